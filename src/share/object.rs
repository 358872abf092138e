//! Uses a bucket as a shared store. A matrix is stored under its digest and never changes. A
//! pointer to it, which never changes either, has time, commit, tree and digest in its name.
//! So one listing finds the useful matrices, and nothing depends on conditional writes, which
//! some servers ignore.

use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, parse_url_opts};
use tokio::runtime::Runtime;

use super::error::{Deadline, RemoteError, Result};
use super::manifest::{MAX_DEPENDENCES, MAX_MANIFEST, MAX_MATRIX, Manifest, Pack};
use super::pointer::Pointer;
use super::web::{chain, runtime, within};
use super::{Damaged, Listed, Offer, Remote, Site, Wanted, redact};
use crate::trust::Writer;

/// How many pointers are considered, the newest first.
const MOST_POINTERS: usize = 3000;

pub(super) struct Bucket {
    store: Box<dyn ObjectStore>,
    runtime: Runtime,
    url: String,
    /// The folder of this suite.
    folder: Path,
}

impl Bucket {
    /// The bucket at `url`. Keys, region and endpoint come from the variables of the
    /// providers' own tools.
    pub(super) fn open(url: &str, site: &Site) -> Result<Bucket> {
        let runtime = runtime()?;
        let set_up = |why: String| RemoteError::NotSetUp(redact(&why));
        let parsed = url::Url::parse(url).map_err(|error| set_up(error.to_string()))?;
        let options = std::env::vars().filter(|(name, _)| {
            ["AWS_", "GOOGLE_", "AZURE_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        });
        let options: Vec<(String, String)> = options
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        let (store, prefix) =
            parse_url_opts(&parsed, options).map_err(|error| set_up(chain(&error)))?;
        Ok(Bucket {
            store,
            runtime,
            url: url.to_owned(),
            folder: prefix.join("v1").join(site.slug.as_str()),
        })
    }

    fn pointers(&self) -> Path {
        self.folder.clone().join("pointers")
    }

    fn matrix(&self, digest: &str) -> Path {
        self.folder.clone().join("matrices").join(digest)
    }

    fn dependences(&self, digest: &str) -> Path {
        self.folder.clone().join("dependences").join(digest)
    }

    async fn read(&self, path: &Path, what: &'static str, limit: u64) -> Result<Vec<u8>> {
        let answer = self.store.get(path).await.map_err(|e| trouble(&e))?;
        if answer.meta.size > limit {
            return Err(RemoteError::TooLarge { what, limit });
        }
        let mut stream = answer.into_stream();
        let mut bytes = Vec::new();
        while let Some(piece) = stream.next().await {
            let piece = piece.map_err(|e| trouble(&e))?;
            if bytes.len() as u64 + piece.len() as u64 > limit {
                return Err(RemoteError::TooLarge { what, limit });
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    async fn write(&self, path: &Path, bytes: Vec<u8>) -> Result<()> {
        let put = self.store.put(path, PutPayload::from(bytes)).await;
        put.map(drop).map_err(|error| trouble(&error))
    }
}

impl Remote for Bucket {
    fn place(&self) -> String {
        format!("{}/v1/…", redact(&self.url))
    }

    fn offers(&self, _wanted: &Wanted, deadline: &Deadline) -> Result<Listed> {
        let pointers = self.pointers();
        let listed = async {
            let mut listing = self.store.list(Some(&pointers)).take(MOST_POINTERS);
            let mut listed = Listed::default();
            while let Some(meta) = listing.next().await {
                let meta = meta.map_err(|error| trouble(&error))?;
                let name = meta.location.filename().unwrap_or_default();
                match Pointer::parse(name) {
                    Some(pointer) => listed.offers.push(pointer.offer()),
                    None => {
                        let why = "tamis gives no such names";
                        listed
                            .damaged
                            .push(Damaged::new(format!("pointers/{name}"), why));
                    }
                }
            }
            Ok(listed)
        };
        within(&self.runtime, deadline, listed)
    }

    fn name_of(&self, offer: &Offer) -> String {
        format!("pointers/{}", offer.id)
    }

    fn mend(&self) -> String {
        "delete them in the bucket, with the matrices of the same digest".to_owned()
    }

    /// A bucket does not tell who wrote.
    fn attest(&self, _offer: &Offer, _deadline: &Deadline) -> Result<Option<Writer>> {
        Ok(None)
    }

    fn get(&self, offer: &Offer, deadline: &Deadline) -> Result<Vec<u8>> {
        let path = self.pointers().join(offer.id.as_str());
        let read = self.read(&path, "a manifest", MAX_MANIFEST + 64);
        let mut bytes = within(&self.runtime, deadline, read)?;
        let manifest = Manifest::decode(&bytes)
            .map_err(|refusal| RemoteError::Malformed(refusal.to_string()))?;
        if Pointer::of(&manifest).name() != offer.id {
            return Err(RemoteError::Malformed(
                "a manifest does not match its name".to_owned(),
            ));
        }
        let absent = |what: &'static str| {
            move |error| match error {
                RemoteError::Absent(_) => RemoteError::Malformed(format!("its {what} not there")),
                error => error,
            }
        };
        let path = self.matrix(&manifest.matrix);
        let read = self.read(&path, "a matrix", MAX_MATRIX);
        let matrix = within(&self.runtime, deadline, read).map_err(absent("matrix is"))?;
        bytes.extend(matrix);
        if let Some(attached) = &manifest.dependences {
            let path = self.dependences(&attached.digest);
            let read = self.read(&path, "dependences", MAX_DEPENDENCES);
            let known = within(&self.runtime, deadline, read);
            bytes.extend(known.map_err(absent("dependences are"))?);
        }
        Ok(bytes)
    }

    /// The pointer comes last: it must never name what is not there.
    fn put(&self, pack: &Pack, deadline: &Deadline) -> Result<()> {
        let path = self.matrix(&pack.manifest.matrix);
        let write = self.write(&path, pack.matrix.clone());
        within(&self.runtime, deadline, write)?;
        if let (Some(attached), Some(known)) = (&pack.manifest.dependences, &pack.dependences) {
            let path = self.dependences(&attached.digest);
            let write = self.write(&path, known.clone());
            within(&self.runtime, deadline, write)?;
        }
        let name = Pointer::of(&pack.manifest).name();
        let path = self.pointers().join(name);
        let write = self.write(&path, pack.manifest.encode());
        within(&self.runtime, deadline, write)
    }

    fn worth(&self) -> usize {
        3
    }
}

fn trouble(error: &object_store::Error) -> RemoteError {
    use object_store::Error;
    let told = redact(&chain(error));
    match error {
        Error::NotFound { path, .. } => RemoteError::Absent(path.clone()),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            RemoteError::Refused(told)
        }
        Error::NotSupported { .. }
        | Error::NotImplemented { .. }
        | Error::UnknownConfigurationKey { .. } => RemoteError::NotSetUp(told),
        _ => RemoteError::Unreachable(told),
    }
}
