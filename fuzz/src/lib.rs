//! Fuzz targets: functions that take any bytes, and panic if what they try does not keep its promise.
//!
//! Each is a line in [`TARGETS`] and has a few inputs in `seeds/<target>`. As tests, all of them are tried with their
//! seeds and with inputs made from these, the same in every run. `cargo xtask fuzz` has libFuzzer look for other inputs,
//! guided by what they reach, for as long as wanted; for that everything is built again, by the package `libfuzzer`.
//!
//! The target for columns needs Arrow, so it exists only with the feature `columns`.

#[cfg(feature = "columns")]
mod columns;
mod files;
mod live;
mod log;
mod module;
mod readers;
mod texts;

#[cfg(test)]
mod mutate;

/// A name, and what is done with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Lists functions as targets, and makes a test of each.
macro_rules! targets {
    ($($(#[$when:meta])? $module:ident::$name:ident),* $(,)?) => {
        /// All targets.
        pub const TARGETS: &[Target] = &[$($(#[$when])? (stringify!($name), $module::$name)),*];

        #[cfg(test)]
        mod tests {
            $($(#[$when])?
            #[test]
            fn $name() {
                super::mutate::try_out(stringify!($name), super::$module::$name);
            })*
        }
    };
}

targets! {
    #[cfg(feature = "columns")]
    columns::columns,
    files::bundle,
    log::log,
    readers::calls,
    readers::read_jaeger,
    readers::read_jepsen,
    readers::read_jsonl,
    readers::read_msgpack,
    readers::read_otlp,
    readers::read_porcupine_etcd,
    readers::read_porcupine_kv,
    readers::read_segment,
    readers::read_text,
    texts::lineup,
    texts::report_json,
    texts::schedule,
    texts::settings,
    texts::tla_config,
    texts::tla_syntax,
    module::tla_module,
    live::monitor_checkpoint,
    live::monitor_lines,
}
