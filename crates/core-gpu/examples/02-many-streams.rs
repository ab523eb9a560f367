//! Many streams: each with its memory, all at once, ordered by an event where one needs another.

use core_gpu::prelude::*;

fn main() -> core_gpu::Result<()> {
    let gpu = Gpu::open_best()?;
    let (first, second) = (gpu.new_stream()?, gpu.new_stream()?);
    let by = Source::named("shared");
    let buffer = gpu.pool().allocate::<u8>(1 << 20, &first, by)?;
    first.set(buffer.span(), 7)?;
    let filled = Event::new(gpu.driver(), EventKind::Order)?;
    first.record(&filled)?;
    second.wait(&filled)?;
    buffer.used_on(&second);
    let seen = buffer.download(&second)?[0];
    println!("{}: {seen} on the second stream", gpu.name());
    Ok(())
}
