use renamed::raw::bindings::{device_count, field::TOTAL as ALL};

fn main() {
    println!(
        "{}",
        device_count() + ALL + ::renamed::raw::bindings::lowerCase
    );
}
