//! The README's programs are the examples, and short.

/// The programs of the README, in its order, and how long each may be.
const PROGRAMS: &[(&str, usize)] = &[
    (include_str!("../examples/01-one-device.rs"), 15),
    (include_str!("../examples/02-many-streams.rs"), 15),
    (include_str!("../examples/03-a-graph.rs"), 15),
    (include_str!("../examples/04-several-processes.rs"), 15),
    (include_str!("../examples/05-by-hand.rs"), 40),
];

#[test]
fn the_programs_of_the_readme_are_the_examples() {
    let readme = include_str!("../README.md");
    let blocks: Vec<_> = readme
        .split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| {
            let rust = block.strip_prefix("rust")?;
            rust.strip_prefix(",no_run")
                .unwrap_or(rust)
                .strip_prefix('\n')
        })
        .collect();
    assert_eq!(blocks.len(), PROGRAMS.len());
    for (block, (example, longest)) in blocks.iter().zip(PROGRAMS) {
        let (_, program) = example.split_once("\n\n").expect("its head");
        assert_eq!(*block, program);
        let body = program
            .lines()
            .skip_while(|line| !line.starts_with("fn main"))
            .take_while(|line| !line.starts_with("#[cfg(not(unix))]"));
        let lines = body.filter(|line| !line.is_empty()).count();
        assert!(lines <= *longest, "{lines} lines of {longest}");
    }
}

#[test]
fn a_report_of_nothing_is_of_no_time() {
    // Nothing in this process switches the profiler on.
    let report = core_gpu::profiler::profiler().report();
    assert_eq!((report.elapsed, report.threads), (0, 0));
    assert!(report.host.is_empty());
    assert!(report.to_text().starts_with("0.000 ms, 0 threads"));
}
