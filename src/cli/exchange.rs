//! The parts of `tamis store` that deal with other machines, and the sharing
//! that follows a run.

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use super::telling;
use crate::ci::CiContext;
use crate::config::{Config, SIGNING_KEY, shown_path};
use crate::error::{Error, Exit, Explain, Kind};
use crate::pipeline::{Exchange, Project, exchange_damaged, exchange_words, open};
use crate::report::{Event, Report};
use crate::share::{PACK, Sent, redact};
use crate::store::{FsStore, Name};
use crate::trust::SecretKey;

/// Shares what a run recorded, where that is configured. Trouble is told, and
/// changes nothing about the run.
pub(super) fn share(project: &Project, store: &FsStore, name: &Name, report: &Report) {
    let sent = match Exchange::open(project) {
        Ok(None) => return,
        Ok(Some(exchange)) => (exchange.place(), exchange.send(store, name, false)),
        Err(error) => {
            warn(&format!("{error:#}"), report);
            return;
        }
    };
    match sent {
        (place, Sent::Stored) => report.detail(format!("shared in {place}")),
        (_, Sent::Kept(why)) => report.detail(format!("not shared: {why}")),
        (place, Sent::Failed(why)) => warn(&format!("{place}: {why}"), report),
    }
}

fn warn(why: &str, report: &Report) {
    report.event(Event::Warning {
        text: format!("what was recorded is not shared: {}", redact(why)),
        hints: vec!["others will run these tests again; nothing else is lost".to_owned()],
    });
}

fn with_exchange(project: Project) -> Result<(Project, Exchange), Error> {
    let exchange = Exchange::open(&project)
        .map_err(|error| Error::store(redact(&format!("{error:#}"))))?
        .ok_or_else(|| {
            Error::usage("no shared store is configured")
                .with_hint("add `shared-store: git:origin` to tamis.yml, or another one")
        })?;
    Ok((project, exchange))
}

/// `tamis store fetch`.
/// Answers the JSON document, if one is asked for.
pub(super) fn fetch(
    config: &Config,
    ci: Option<&CiContext>,
    report: &Report,
) -> Result<Option<Value>, Error> {
    let (project, exchange) = with_exchange(open(config, ci)?)?;
    telling::tell_clone(&project, report);
    let view = project.repository.work_view()?;
    let brought = exchange.fetch(&project, &project.store(), &view)?;
    if let Some(trouble) = &brought.trouble {
        return Err(Error::store(format!("{}: {trouble}", exchange.place())));
    }
    if report.is_json() {
        let taken: Vec<_> = brought
            .taken
            .iter()
            .map(|taken| json!({ "name": taken.name.to_string(), "commit": taken.commit }))
            .collect();
        let damaged: Vec<_> = brought
            .damaged
            .iter()
            .map(|damaged| json!({ "file": damaged.file, "why": damaged.why }))
            .collect();
        let told = json!({
            "schema": 1, "taken": taken, "refused": brought.refused, "damaged": damaged,
        });
        return Ok(Some(told));
    }
    if let Some(text) = exchange_damaged(&exchange.place(), &brought) {
        report.warning(text);
    }
    for words in exchange_words(&brought) {
        report.note(words);
    }
    match (brought.asked, brought.taken.is_empty()) {
        (false, _) => report.note("results of this commit are here: nothing to get"),
        (true, true) => {
            let place = exchange.place();
            report.note(format!("{place} has nothing new for this commit"));
        }
        (true, false) => {}
    }
    Ok(None)
}

/// `tamis store push`.
pub(super) fn push(
    config: &Config,
    find: impl FnOnce(&FsStore) -> Result<Name, Error>,
    report: &Report,
) -> Result<Exit, Error> {
    let (project, exchange) = with_exchange(Project::open(config.clone())?)?;
    let store = project.store();
    let name = find(&store)?;
    let place = exchange.place();
    match exchange.send(&store, &name, true) {
        Sent::Stored => report.note(format!("{name} is shared in {place}")),
        Sent::Kept(why) => report.note(format!("{name} is not shared: {why}")),
        Sent::Failed(why) => return Err(Error::store(format!("{place}: {why}"))),
    }
    Ok(Exit::DONE)
}

/// `tamis store pack`.
pub(super) fn pack(
    config: &Config,
    folder: &Path,
    find: impl FnOnce(&FsStore) -> Result<Name, Error>,
    report: &Report,
) -> Result<Exit, Error> {
    let (project, exchange) = with_exchange(Project::open(config.clone())?)?;
    let store = project.store();
    let name = find(&store)?;
    let pack = exchange.pack(&store, &name).kind(Kind::Store)?;
    fs_err::create_dir_all(folder).map_err(anyhow::Error::from)?;
    let path = folder.join(PACK);
    crate::disk::write(&path, pack.encode()).map_err(anyhow::Error::from)?;
    report.data(&format!("{}\n", shown_path(&path)))?;
    Ok(Exit::DONE)
}

/// `tamis store key`.
pub(super) fn key(report: &Report) -> Result<Exit, Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    let key = SecretKey::from_bytes(bytes);
    let (secret, public) = (key.expose(), key.public());
    if report.is_json() {
        report.json(&json!({ "schema": 1, "secret": secret, "public": public.to_string() }))?;
        return Ok(Exit::DONE);
    }
    report.data(&format!("{SIGNING_KEY}={secret}\npublic-key: {public}\n"))?;
    report.note("keep the first line as a secret of runs on trusted branches alone");
    report.note("the second belongs below `trust` in tamis.yml");
    Ok(Exit::DONE)
}
