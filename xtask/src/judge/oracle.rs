//! Who decides whether a tree works: one answer before, one after, and what is worse.

use std::path::Path;

use coalesce_model::LanguageKind;
use serde_json::Value;

use super::{
    arguments::Arguments, consolidation::Consolidation, interpreter::Interpreter, rustc::Compiler,
    scratch::read_tree, suite::Suite,
};

/// What is worse than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// It does not compile or import, or warns anew.
    Fails(String),
    /// It does, and names are not as they were.
    Names(String),
}

/// The compiler and the interpreter, each where the tree has its language.
pub struct Oracle {
    compiler: Option<Compiler>,
    interpreter: Option<Interpreter>,
    suite: Option<Suite>,
}

impl Oracle {
    /// Asks both about the untouched tree.
    ///
    /// # Errors
    /// When the tree does not work as it is: then nothing can be told of it.
    pub fn new(root: &Path, beside: &Path, arguments: &Arguments) -> anyhow::Result<Self> {
        let session = read_tree(root)?;
        let has = |language| {
            let mut graphs = session.graphs().into_iter();
            graphs.any(|graph| graph.language() == language)
        };
        let compiler = has(LanguageKind::Rust)
            .then(|| Compiler::new(root, beside))
            .transpose()?;
        let interpreter = has(LanguageKind::Python)
            .then(|| Interpreter::new(root, &arguments.python))
            .transpose()?;
        Ok(Self {
            compiler,
            interpreter,
            suite: Suite::new(root, beside, arguments)?,
        })
    }

    /// Errors of the tree where there was none before, as far as they are found together; what warns anew is none.
    pub fn errors(&self, root: &Path) -> anyhow::Result<Vec<String>> {
        if let Some(compiler) = &self.compiler {
            let errors = compiler.errors(root)?;
            if !errors.is_empty() {
                return Ok(errors);
            }
        }
        let interpreter = self.interpreter.as_ref();
        let error = interpreter.map(|interpreter| interpreter.first_error(root));
        let error = match (error.transpose()?.flatten(), &self.suite) {
            (None, Some(suite)) => suite.failure(root)?,
            (error, _) => error,
        };
        Ok(error.into_iter().collect())
    }

    /// What is judged, a line for each.
    pub fn told(&self) -> Vec<String> {
        let interpreter = self.interpreter.as_ref().map(Interpreter::told);
        let compiler = self.compiler.as_ref().map(Compiler::told);
        let suite = self.suite.as_ref().map(Suite::told);
        let lines = compiler.into_iter().flatten();
        lines.chain(interpreter).chain(suite).collect()
    }

    /// What is worse than before; `None` where nothing is. `answer` is what the program said of it.
    pub fn objection(
        &self,
        root: &Path,
        done: &Consolidation,
        answer: &Value,
    ) -> anyhow::Result<Option<Objection>> {
        let objection = match (done.language, &self.compiler, &self.interpreter) {
            (LanguageKind::Rust, Some(compiler), _) => {
                compiler.objection(root, done)?.map(Objection::Fails)
            }
            (LanguageKind::Python, _, Some(interpreter)) => {
                interpreter.objection(root, done, answer)?
            }
            _ => anyhow::bail!("nobody can judge {}", done.summary()),
        };
        match (objection, &self.suite) {
            (None, Some(suite)) => Ok(suite.failure(root)?.map(Objection::Fails)),
            (objection, _) => Ok(objection),
        }
    }
}
