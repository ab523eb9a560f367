//! Who commits: as git's environment and configuration say, in git's order.
//!
//! The files of the person who calls are read with what they include; those of the repository are
//! read without, since whoever made the tree may have written them.

use std::{
    env,
    path::{Path, PathBuf},
};

use gix::{
    Repository,
    actor::Signature,
    bstr::BString,
    config::{File, Source, file::Metadata, file::includes, file::init},
};

use crate::{Error, ErrorKind, dirty::trouble};

/// What is known of the person.
pub struct Identity<'r> {
    repository: &'r Repository,
    /// The configuration of the person and of the machine.
    own: Option<File>,
}

impl<'r> Identity<'r> {
    /// Reads what there is.
    pub fn of(repository: &'r Repository) -> Self {
        Self {
            repository,
            own: own_configuration(repository.git_dir()),
        }
    }

    /// The `author` or the `committer`, now.
    ///
    /// # Errors
    /// When a name or an address is missing.
    pub fn signature(&self, role: &str) -> Result<Signature, Error> {
        let variable = |part: &str| {
            let name = format!("GIT_{}_{part}", role.to_uppercase());
            env::var(name).ok().filter(|value| !value.is_empty())
        };
        let find = |part: &str, key: &str| {
            let said = variable(part).map(BString::from);
            let said = said.or_else(|| self.value(&format!("{role}.{key}")));
            said.or_else(|| self.value(&format!("user.{key}")))
        };
        let email = || env::var("EMAIL").ok().map(BString::from);
        let (name, email) = (find("NAME", "name"), find("EMAIL", "email").or_else(email));
        let (Some(name), Some(email)) = (name, email) else {
            let message = "git does not know who commits: `git config --global user.name NAME`, and \
                           `user.email`";
            return Err(Error::new(ErrorKind::Repository, message));
        };
        let signature = Signature {
            name,
            email,
            time: gix::date::Time::now_local_or_utc(),
        };
        // What no commit can hold is told before anything is written.
        let mut time = gix::date::parse::TimeBuf::default();
        let mut bytes = Vec::new();
        signature
            .to_ref(&mut time)
            .write_to(&mut bytes)
            .map_err(trouble)?;
        Ok(signature)
    }

    /// Whether commits are to be signed.
    pub fn signs(&self) -> bool {
        let key = "commit.gpgSign";
        let local = self.repository.config_snapshot().boolean(key);
        let own = || self.own.as_ref()?.boolean(key).ok().flatten();
        local.or_else(own).unwrap_or(false)
    }

    fn value(&self, key: &str) -> Option<BString> {
        let local = self.repository.config_snapshot();
        let local = local.string(key);
        let own = || self.own.as_ref()?.string(key);
        let value = local.or_else(own);
        value.filter(|value| !value.is_empty())
    }
}

/// The files outside of the repository, the last of which holds. One that cannot be read counts as not
/// there: a name that is missing then is told.
fn own_configuration(git_dir: &Path) -> Option<File> {
    let home = env::home_dir();
    let below_home = |below: &str| home.as_ref().map(|home| home.join(below));
    let path = |name: &str| env::var_os(name).map(PathBuf::from);
    let system = match env::var_os("GIT_CONFIG_NOSYSTEM") {
        Some(_) => None,
        None => Some(path("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into())),
    };
    let further = path("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
    let global = match path("GIT_CONFIG_GLOBAL") {
        Some(named) => vec![(named, Source::User)],
        None => [
            further.map(|directory| (directory.join("git/config"), Source::Git)),
            below_home(".gitconfig").map(|file| (file, Source::User)),
        ]
        .into_iter()
        .flatten()
        .collect(),
    };
    let files = system.map(|file| (file, Source::System)).into_iter();
    let files = files.chain(global).filter(|(file, _)| file.is_file());
    let files = files.map(|(path, source)| Metadata {
        path: Some(path),
        source,
        level: 0,
        trust: gix::sec::Trust::Full,
    });
    let follow = includes::Options::follow(
        gix::config::path::interpolate::Context {
            home_dir: home.as_deref(),
            ..Default::default()
        },
        includes::conditional::Context {
            git_dir: Some(git_dir),
            branch_name: None,
        },
    );
    let options = init::Options {
        includes: follow,
        ..init::Options::default()
    };
    File::from_paths_metadata(files, options).ok().flatten()
}
