//! What stays at an old module path: a module that warns and forwards everything.
