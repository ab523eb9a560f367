//! Plans and applies the move of a module: `move_module ROOT FROM TO`.

use std::{error::Error, path::Path};

use coalesce_engine::{
    PlanOptions, PreparedMigration, Progress, Session, Store, UncommittedChanges, manifests, plan,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, from, to] = arguments.as_slice() else {
        return Err("call it with the root of a tree and two names of modules".into());
    };
    let session = Session::open(Path::new(root), true, Progress::silent())?;
    let text = format!("schema = 1\n\n[[move]]\nfrom = {from:?}\nto = {to:?}\n");
    let manifests = manifests(&session, vec![("move.toml".to_owned(), text)])?;
    let plan = plan(&session, &manifests, PlanOptions::default())?;
    let prepared = PreparedMigration::new(&session, &plan, UncommittedChanges::Refuse)?;
    let applied = prepared.apply(&Store::open(Path::new(root))?)?;
    println!(
        "{} files changed; `coalesce rollback {}` takes it back",
        prepared.file_count(),
        applied.id
    );
    Ok(())
}
