//! The buffers that are open in the editor.

use std::collections::BTreeMap;

use coalesce_model::TreePath;
use lsp_types::Uri;

use crate::workspace::Workspace;

/// An open buffer.
#[derive(Clone, Debug)]
pub struct Document {
    /// As the client calls it.
    pub uri: Uri,
    /// The version of its text.
    pub version: i32,
    /// Its text, which need not be saved.
    pub text: String,
}

impl Document {
    /// Whether the file on disk, which has the text `saved`, has what the buffer shows.
    #[must_use]
    pub fn is_saved_as(&self, saved: Option<&str>) -> bool {
        let shown = saved.map(|text| text.trim_start_matches('\u{feff}'));
        shown == Some(self.text.trim_start_matches('\u{feff}'))
    }
}

/// All of them that are files of the tree.
#[derive(Debug, Default)]
pub struct Documents(BTreeMap<TreePath, Document>);

impl Documents {
    /// Opens a buffer, or gives it a new text.
    pub fn set(&mut self, path: TreePath, document: Document) {
        self.0.insert(path, document);
    }

    /// Closes a buffer.
    pub fn close(&mut self, path: &TreePath) {
        self.0.remove(path);
    }

    /// The buffer of a file, if it is open.
    #[must_use]
    pub fn get(&self, path: &TreePath) -> Option<&Document> {
        self.0.get(path)
    }

    /// As the client calls a file, if it has it open; else by its place on disk.
    #[must_use]
    pub fn uri(&self, workspace: &Workspace, path: &TreePath) -> Option<Uri> {
        let open = self.get(path).map(|document| document.uri.clone());
        open.or_else(|| workspace.uri_of(path))
    }

    /// The files whose buffers hold what is not on disk, among those that `concerns` names.
    pub fn unsaved(
        &self,
        workspace: &Workspace,
        concerns: impl Fn(&TreePath, &Document) -> bool,
    ) -> Vec<&TreePath> {
        let open = self.0.iter();
        let unsaved = open.filter(|(path, document)| {
            concerns(path, document) && !document.is_saved_as(workspace.saved_text(path).as_deref())
        });
        unsaved.map(|(path, _)| path).collect()
    }
}
