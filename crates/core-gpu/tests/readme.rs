//! The README's program is the first example.

#[test]
fn the_program_of_the_readme_is_the_example() {
    let readme = include_str!("../README.md");
    let example = include_str!("../examples/01-a-slot.rs");
    let (_, rest) = readme.split_once("```rust\n").expect("a program");
    let (program, _) = rest.split_once("```").expect("its end");
    let (_, same) = example.split_once("\n\n").expect("its head");
    assert_eq!(program, same);
    let body = program
        .lines()
        .skip_while(|line| !line.starts_with("fn main"));
    assert!(body.count() <= 30, "thirty lines");
}
