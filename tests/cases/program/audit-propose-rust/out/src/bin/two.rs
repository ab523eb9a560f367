fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let size = arguments.get(1).map_or(0, |text| text.len());
    for round in 0..size {
        let total = pools::take::rounded(round, 256);
        println!("{round}: {total} bytes of {size}");
    }
    println!("{size} rounds of {}", arguments.len());
}
