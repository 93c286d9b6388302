//! Reports written, read and shown.

#[cfg(test)]
mod exports;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod renderers;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod schedules;
