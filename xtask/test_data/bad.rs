// A comment is not a description.

use std::fs;

fn now() -> std::time::Instant {
	std::time::Instant::now()
}

fn later() { 
    dbg!(1);
    todo!() // TODO: later
}

#[cfg(test)]
mod tests {
    use std::fs;

    fn unfinished() {
        unimplemented!()
    }
}
