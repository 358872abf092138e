use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

const HERE: &str = "o/r";

fn policy(needs_signature: bool) -> Policy {
    Policy {
        repository: HERE.into(),
        refs: vec!["main".parse().unwrap(), "release/*".parse().unwrap()],
        events: vec!["push".into(), "schedule".into(), "merge_group".into()],
        workflows: Vec::new(),
        needs_signature,
    }
}

fn push(branch: &str) -> Writer {
    Writer {
        provider: "github".into(),
        repository: HERE.into(),
        event: "push".into(),
        reference: format!("refs/heads/{branch}"),
        workflow: ".github/workflows/ci.yml".into(),
        run: "1".into(),
        ..Writer::default()
    }
}

fn pull(pr: u64, head: &str) -> Writer {
    Writer {
        event: "pull_request".into(),
        reference: format!("refs/pull/{pr}/merge"),
        fork: !head.starts_with("o/r:"),
        pr: Some(pr),
        head: head.into(),
        ..push("")
    }
}

fn verdict(reader: &Writer, writer: &Writer) -> Result<Standing, Distrust> {
    judge(&policy(false), reader, writer, Some(writer), Signed::Not)
}

#[test]
fn the_table_of_the_rule() {
    let (main, own) = (push("main"), pull(5, "o/r:topic"));
    let fork = pull(6, "evil/r:topic");
    let trusted = Ok(Standing::Trusted);
    for reader in [&main, &own, &fork, &Writer::local()] {
        assert_eq!(verdict(reader, &main), trusted);
        assert_eq!(verdict(reader, &push("release/2")), trusted);
        assert_eq!(verdict(reader, &push("gh-readonly-queue/main/pr-5-abc")), {
            let mut queued = push("gh-readonly-queue/main/pr-5-abc");
            queued.event = "merge_group".into();
            verdict(reader, &queued)
        });
    }
    let same = Ok(Standing::SameProposal);
    assert_eq!(verdict(&own, &own), same);
    assert_eq!(verdict(&fork, &fork), same);
    assert_eq!(verdict(&main, &own), Err(Distrust::Proposal(Some(5))));
    assert_eq!(verdict(&main, &fork), Err(Distrust::Fork));
    assert_eq!(verdict(&own, &fork), Err(Distrust::Fork));
    assert_eq!(verdict(&fork, &own), Err(Distrust::Proposal(Some(5))));
    // The same number, another branch: not the same pull request.
    let other = pull(5, "o/r:other");
    assert_eq!(verdict(&own, &other), Err(Distrust::Proposal(Some(5))));
    for branch in [
        "topic",
        "main/x",
        "release/2/x",
        "mainly",
        "gh-readonly-queue/topic/pr-1-a",
    ] {
        let reference = format!("refs/heads/{branch}");
        assert_eq!(
            verdict(&main, &push(branch)),
            Err(Distrust::Reference(reference))
        );
    }
    let dispatched = Writer {
        event: "repository_dispatch".into(),
        ..push("main")
    };
    let event = Distrust::Event("repository_dispatch".into());
    assert_eq!(verdict(&main, &dispatched), Err(event));
    for event in ["pull_request_target", "workflow_run", "issue_comment"] {
        let acting = Writer {
            event: event.into(),
            ..push("main")
        };
        assert_eq!(
            verdict(&main, &acting),
            Err(Distrust::Acting(event.into())),
            "{event}"
        );
    }
    let told = Distrust::Acting("workflow_run".into()).to_string();
    assert!(
        told.starts_with("a run started by `workflow_run` wrote it"),
        "{told}"
    );
    let elsewhere = Writer {
        repository: "o/other".into(),
        ..push("main")
    };
    assert_eq!(
        verdict(&main, &elsewhere),
        Err(Distrust::Repository("o/other".into()))
    );
    // Nobody outside CI is trusted unless the configuration says so.
    let local = Writer::local();
    let event = Distrust::Repository(String::new());
    assert_eq!(verdict(&main, &local), Err(event));
}

#[test]
fn workflows_and_signatures_narrow_it() {
    let main = push("main");
    let mut narrow = policy(true);
    let judged = |policy: &Policy, signed| judge(policy, &main, &main, None, signed);
    assert_eq!(judged(&narrow, Signed::Not), Err(Distrust::Unsigned));
    assert_eq!(judged(&narrow, Signed::Wrong), Err(Distrust::BadSignature));
    assert_eq!(judged(&narrow, Signed::Right), Ok(Standing::Trusted));
    narrow.workflows = vec![".github/workflows/nightly.yml".parse().unwrap()];
    let refused = judged(&narrow, Signed::Right);
    assert!(matches!(refused, Err(Distrust::Workflow(_))), "{refused:?}");
}

#[test]
fn a_claim_that_the_store_contradicts_is_worth_nothing() {
    let claimed = push("main");
    let changes: [fn(&mut Writer); 7] = [
        |known| known.provider = "gitlab".into(),
        |known| known.repository = "e/r".into(),
        |known| known.event = "pull_request".into(),
        |known| known.workflow = ".github/workflows/x.yml".into(),
        |known| known.run = "2".into(),
        |known| known.fork = true,
        |known| known.reference = "refs/heads/topic".into(),
    ];
    for change in changes {
        let mut known = claimed.clone();
        change(&mut known);
        let judged = judge(
            &policy(false),
            &claimed,
            &claimed,
            Some(&known),
            Signed::Not,
        );
        assert!(
            matches!(judged, Err(Distrust::Contradicted(_))),
            "{known:?}"
        );
    }
}

#[test]
fn weak_and_malformed_keys_are_no_keys() {
    for text in [
        "",
        "00",
        &"zz".repeat(32),
        &"00".repeat(32),
        &"é".repeat(32),
    ] {
        assert!(PublicKey::parse(text).is_err(), "{text}");
    }
    let one = format!("01{}", "00".repeat(31));
    assert!(PublicKey::parse(&one).is_err(), "a point of small order");
    let secret = SecretKey::from_bytes([5; 32]);
    assert!(!format!("{secret:?}").contains(&secret.expose()));
    let public = secret.public();
    assert_eq!(PublicKey::parse(&public.to_string()), Ok(public));
}

/// The true writer or reader, which nobody in the model can fake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Main,
    Pull(u64),
    Fork(u64),
    /// A push to a branch without review.
    Topic,
    /// Another repository that can write to the same store.
    Stranger,
}

impl Who {
    fn honest(self) -> Writer {
        match self {
            Who::Main => push("main"),
            Who::Pull(pr) => pull(pr, &format!("o/r:topic-{pr}")),
            Who::Fork(pr) => pull(pr, &format!("evil-{pr}/r:main")),
            Who::Topic => push("topic"),
            Who::Stranger => Writer {
                repository: "evil/r".into(),
                ..push("main")
            },
        }
    }

    /// Whose rows may justify a skip for this one.
    fn may_use(self, author: Who) -> bool {
        let own = matches!(self, Who::Pull(_) | Who::Fork(_)) && self == author;
        author == Who::Main || own
    }
}

fn anybody() -> impl Strategy<Value = Who> {
    prop_oneof![
        3 => Just(Who::Main),
        3 => (1u64..3).prop_map(Who::Pull),
        2 => (3u64..5).prop_map(Who::Fork),
        1 => Just(Who::Topic),
        1 => Just(Who::Stranger),
    ]
}

/// One run: it reads what the rule allows, and writes its own rows and those that it takes
/// over. `lie`: the writer that it claims to be.
#[derive(Clone, Debug)]
struct Step {
    who: Who,
    lie: Option<Who>,
    /// Whether a hostile writer copies the newest signature that it finds.
    copies_signature: bool,
}

fn step() -> impl Strategy<Value = Step> {
    (anybody(), proptest::option::of(anybody()), any::<bool>()).prop_map(
        |(who, lie, copies_signature)| Step {
            who,
            // Reviewed code does not lie.
            lie: lie.filter(|_| who != Who::Main),
            copies_signature,
        },
    )
}

/// An entry of the shared store: whose rows it has, and what it claims.
struct Entry {
    authors: BTreeSet<Who>,
    truth: Who,
    claimed: Writer,
    /// The signed content, if there is a signature.
    signature: Option<(Signature, Vec<u8>)>,
}

/// Ten thousand histories of trusted and hostile runs. One store knows who writes; the other
/// does not, but requires signatures. No run uses a row that it may not use, not even through
/// rows that others took over.
#[test]
fn hostile_rows_are_never_used() {
    let mut runner = TestRunner::new(Config {
        cases: 10_000,
        failure_persistence: None,
        ..Config::default()
    });
    let secret = SecretKey::from_bytes([9; 32]);
    let histories = (proptest::collection::vec(step(), 1..14), any::<bool>());
    let (mut used, mut refused) = (0usize, 0usize);
    let counts = std::cell::RefCell::new((&mut used, &mut refused));
    let done = runner.run(&histories, |(steps, attested)| {
        let mut store: Vec<Entry> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let reader = step.who.honest();
            let mut authors = BTreeSet::from([step.who]);
            for entry in &store {
                let known = entry.truth.honest();
                let signed = match &entry.signature {
                    None => Signed::Not,
                    Some((signature, content)) => {
                        // The check is against the entry, not against the content that was
                        // signed.
                        let is = content_of(&entry.claimed, content);
                        match secret.public().check(&is, signature) {
                            true => Signed::Right,
                            false => Signed::Wrong,
                        }
                    }
                };
                let judged = judge(
                    &policy(!attested),
                    &reader,
                    &entry.claimed,
                    attested.then_some(&known),
                    if attested { Signed::Not } else { signed },
                );
                let mut counts = counts.borrow_mut();
                if judged.is_err() {
                    *counts.1 += 1;
                    continue;
                }
                *counts.0 += 1;
                // Without attestation a pull request's own results are unsigned, so another
                // writer can claim its name. Then only results that count for everybody are
                // protected.
                if attested || judged == Ok(Standing::Trusted) {
                    for author in &entry.authors {
                        prop_assert!(
                            step.who.may_use(*author),
                            "{:?} used rows of {author:?}",
                            step.who
                        );
                    }
                    authors.extend(&entry.authors);
                }
            }
            let claimed = step.lie.unwrap_or(step.who).honest();
            let unique = number.to_le_bytes().to_vec();
            let signature = match step.who {
                Who::Main => {
                    let content = content_of(&claimed, &unique);
                    Some((secret.sign(&content), unique))
                }
                _ if step.copies_signature => {
                    let theirs = store.iter().rev().find_map(|entry| entry.signature.clone());
                    theirs.map(|(signature, _)| (signature, unique))
                }
                _ => None,
            };
            store.push(Entry {
                authors,
                truth: step.who,
                claimed,
                signature,
            });
        }
        Ok(())
    });
    done.unwrap();
    // Something must happen in the model.
    assert!(
        used > 10_000 && refused > 10_000,
        "{used} used, {refused} refused"
    );
}

/// The content that is signed: the writer and the rows.
fn content_of(writer: &Writer, unique: &[u8]) -> Vec<u8> {
    let mut content = serde_json::to_vec(writer).unwrap();
    content.extend_from_slice(unique);
    content
}
