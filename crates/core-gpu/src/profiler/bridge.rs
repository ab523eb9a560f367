//! Spans of `tracing` as spans of the profiler: a layer for a program's subscriber. Fields of spans
//! and events are not recorded.

use std::cell::RefCell;

use tracing_core::{
    Subscriber,
    span::{Attributes, Id},
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use super::{
    name::SpanName,
    span::{Span, profile_named},
};

/// Records the time between entering and leaving each span of `tracing`, under the span's name.
/// Other spans cost what `tracing` costs; this adds a look-up of the span's data.
///
/// ```
/// use core_gpu::profiler::{TracingBridge, profiler};
/// use tracing_subscriber::{layer::SubscriberExt as _, registry};
///
/// let subscriber = registry().with(TracingBridge::new());
/// # drop(subscriber);
/// # let _ = profiler();
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TracingBridge;

impl TracingBridge {
    /// The layer.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

/// What the layer keeps with a span.
struct Named(SpanName);

thread_local! {
    /// Spans that are entered on this thread. They are left in another order now and then.
    static ENTERED: RefCell<Vec<(u64, Span)>> = const { RefCell::new(Vec::new()) };
}

impl<S> Layer<S> for TracingBridge
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let name = SpanName::of(attributes.metadata().name());
            span.extensions_mut().insert(Named(name));
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let name = span.extensions().get::<Named>().map(|named| named.0);
        let Some(name) = name else { return };
        // A thread that is being taken down has nowhere to record.
        let _ = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            entered.push((id.into_u64(), profile_named(name)));
        });
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        // As above.
        let _ = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            let wanted = id.into_u64();
            if let Some(at) = entered.iter().rposition(|(known, _)| *known == wanted) {
                drop(entered.remove(at));
            }
        });
    }
}
