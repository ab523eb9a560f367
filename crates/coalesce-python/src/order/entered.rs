//! Modules that lead to each other, executed from one of them: played once, and known for whoever comes to them after that.
//!
//! Nothing that they lead to leads back, so what comes to be of them hangs on where they are entered and on nothing else,
//! but for the touched modules that a call may come to.

use std::rc::Rc;

use super::{
    program::{Program, Read, State},
    reach::SHARED,
};

/// Where a component is entered, none of it being executed yet, and the touched modules that it leads to and that were
/// not executed by then.
pub(super) type Entrance = (usize, u64);

/// A component that is being executed.
#[derive(Clone)]
pub(super) struct Frame {
    component: Option<usize>,
    /// The modules of other components that it executes, in order.
    leads: Vec<Lead>,
    /// How many of the imports around it stand where a failure is caught.
    catching: u32,
    /// The reads of it that fail.
    pub(super) failed: Vec<Read>,
}

impl Frame {
    const fn new(component: Option<usize>, catching: u32) -> Self {
        Self {
            component,
            leads: Vec::new(),
            catching,
            failed: Vec::new(),
        }
    }
}

/// What came of it.
pub(super) struct Entered {
    /// The modules of it that were executed.
    executed: Vec<usize>,
    /// Its star imports of half-executed modules.
    partial: Vec<((usize, u32), u32)>,
    leads: Vec<Lead>,
    failed: Vec<Read>,
}

/// A module that is executed on the way, and how many imports between catch its failure.
#[derive(Clone, Copy)]
struct Lead {
    module: usize,
    catching: u32,
}

impl Program<'_> {
    /// Remembers that the component that is being executed comes to a module of another one.
    pub(super) fn note_entrance(&self, module: usize, state: &mut State) {
        if state.supposed.is_none()
            && let Some(frame) = state.frames.last_mut()
            && self.reach().component(module) != frame.component
        {
            let catching = state.catching - frame.catching;
            frame.leads.push(Lead { module, catching });
        }
    }

    /// Whether the component of a module is the one that is being executed.
    pub(super) fn is_inside(&self, module: usize, state: &State) -> bool {
        let frame = state.frames.last();
        frame.is_some_and(|frame| self.reach().component(module) == frame.component)
    }

    /// Executes a module whose component is not being executed.
    pub(super) fn enter(&self, module: usize, state: &mut State, depth: usize) {
        let reach = self.reach();
        let members = reach.members(module);
        let fresh = (members.iter()).all(|member| state.stage.get(*member) == Some(&0));
        let entrance = (module, state.pending & reach.touched_from(module));
        // Whoever asks for the statements wants to see them executed.
        let known = (fresh && state.trail.is_none())
            .then(|| self.entries.borrow().get(&entrance).map(Rc::clone));
        if let Some(Some(known)) = &known {
            return self.enter_as_known(known, state, depth);
        }
        let frame = Frame::new(reach.component(module), state.catching);
        state.frames.push(frame);
        self.perform(module, state, depth);
        let Some(frame) = state.frames.pop() else {
            return;
        };
        // Who catches it around here says nothing of who comes to it elsewhere.
        if known.is_some() && frame.catching == 0 {
            self.remember(entrance, members, frame, state);
        }
    }

    /// Keeps what came of entering a component, for who enters it where the same is left to be executed.
    fn remember(&self, entrance: Entrance, members: &[usize], frame: Frame, state: &State) {
        let executed = members.iter().copied();
        let executed = executed.filter(|member| state.stage.get(*member) == Some(&2));
        let partial = (state.partial.iter())
            .filter(|((reader, _), _)| self.reach().component(*reader) == frame.component);
        let entered = Entered {
            executed: executed.collect(),
            partial: partial.map(|(place, then)| (*place, *then)).collect(),
            leads: frame.leads,
            failed: frame.failed,
        };
        self.entries.borrow_mut().insert(entrance, Rc::new(entered));
    }

    fn enter_as_known(&self, known: &Entered, state: &mut State, depth: usize) {
        for module in &known.executed {
            if let Some(stage) = state.stage.get_mut(*module) {
                *stage = 2;
            }
            state.pending &= !self.reach().bit(*module) | SHARED;
        }
        state.partial.extend(known.partial.iter().copied());
        let catching = state.catching;
        state.failed.extend(known.failed.iter().map(|read| Read {
            caught: read.caught || catching > 0,
            ..read.clone()
        }));
        for lead in &known.leads {
            state.catching = catching + lead.catching;
            self.execute(lead.module, state, depth + 1);
        }
        state.catching = catching;
    }
}
