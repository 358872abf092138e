//! Tells which fields of an object are part of the state that a program can see.
//!
//! All are, except those listed below. There are four kinds of exceptions:
//!
//! - Values. An object that stays one value for its whole life (a text, a number, a time, a
//!   pattern) counts by identity. What its class computes late and caches (a hash) is always
//!   the same.
//! - Fields that lead everywhere and are not state of their holder: classes (their static
//!   fields are compared separately), loaders, modules, providers.
//! - Caches of the JDK that it overwrites before it reads them, or whose absence changes
//!   nothing: views of a map that are made on first use, digits of the last formatted number.
//! - What the garbage collector and the threads change at their own pace: queues of references
//!   and of waiting threads, clocks of soft references.

/// Which of the fields that a class itself declares are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    All,
    None,
    Only(&'static [&'static str]),
    Without(&'static [&'static str]),
    /// None, and none of its superclasses.
    Stop,
}

use Rule::{All, None, Only, Stop, Without};

impl Rule {
    pub fn has(self, field: &str) -> bool {
        match self {
            All => true,
            None | Stop => false,
            Only(fields) => fields.contains(&field),
            Without(fields) => !fields.contains(&field),
        }
    }
}

/// The cached views of a map.
const VIEWS: Rule = Without(&[
    "keySet",
    "values",
    "entrySet",
    "navigableKeySet",
    "descendingMap",
]);

/// Classes of the JDK by prefix; the first match counts. A name without `/` at its end is a
/// class and its nested classes.
const JDK: &[(&str, Rule)] = &[
    // The values of a thread-local variable or of a class value are looked up where a
    // program's own object for them is met.
    ("java/lang/ThreadLocal", None),
    ("java/lang/ClassValue", None),
    (
        "java/lang/Thread$FieldHolder",
        Only(&["task", "priority", "daemon"]),
    ),
    (
        "java/lang/Thread",
        Only(&[
            "name",
            "priority",
            "daemon",
            "target",
            "holder",
            "uncaughtExceptionHandler",
        ]),
    ),
    ("java/lang/Throwable", Without(&["backtrace", "depth"])),
    ("java/lang/invoke/CallSite", Only(&["target"])),
    ("java/lang/reflect/AccessibleObject", Only(&["override"])),
    ("java/lang/reflect/Proxy", All),
    ("java/lang/ref/Reference", Only(&["referent"])),
    ("java/lang/StringBuilder", All),
    ("java/lang/StringBuffer", All),
    ("java/lang/AbstractStringBuilder", All),
    ("java/lang/ProcessBuilder", All),
    ("java/lang/invoke/", None),
    ("java/lang/reflect/", None),
    ("java/lang/ref/", None),
    ("java/lang/module/", None),
    ("java/lang/", None),
    ("java/math/", None),
    ("java/time/", None),
    ("java/io/File", None),
    ("java/io/ObjectStreamClass", None),
    ("java/io/PrintStream", Only(&["trouble", "autoFlush"])),
    (
        "java/io/PrintWriter",
        Only(&["out", "trouble", "autoFlush"]),
    ),
    ("java/net/URI", None),
    ("java/net/URL", None),
    ("java/net/URLClassLoader", None),
    ("java/net/InetAddress", None),
    ("java/net/Inet4Address", None),
    ("java/net/Inet6Address", None),
    ("java/nio/charset/Charset", None),
    (
        "java/nio/charset/CharsetEncoder",
        Without(&["cachedDecoder"]),
    ),
    ("java/security/ProtectionDomain", None),
    ("java/security/AccessControlContext", None),
    ("java/security/CodeSource", None),
    ("java/security/Provider", Stop),
    (
        "java/text/DecimalFormat",
        Without(&[
            "digitList",
            "positivePrefixFieldPositions",
            "positiveSuffixFieldPositions",
            "negativePrefixFieldPositions",
            "negativeSuffixFieldPositions",
            "fastPathData",
            "isFastPath",
            "fastPathCheckNeeded",
        ]),
    ),
    ("java/text/DecimalFormatSymbols", Without(&["hashCode"])),
    (
        "java/text/DateFormatSymbols",
        Without(&["cachedHashCode", "lastZoneIndex"]),
    ),
    ("java/util/AbstractMap", VIEWS),
    ("java/util/HashMap", VIEWS),
    ("java/util/Hashtable", VIEWS),
    ("java/util/TreeMap", VIEWS),
    ("java/util/EnumMap", VIEWS),
    ("java/util/IdentityHashMap", VIEWS),
    ("java/util/WeakHashMap$Entry", All),
    (
        "java/util/WeakHashMap",
        Without(&["keySet", "values", "entrySet", "queue"]),
    ),
    ("java/util/Collections", VIEWS),
    ("java/util/concurrent/ConcurrentHashMap", VIEWS),
    ("java/util/concurrent/ConcurrentSkipListMap", VIEWS),
    (
        "java/util/concurrent/locks/AbstractQueuedSynchronizer",
        Only(&["state"]),
    ),
    (
        "java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
        Only(&["state"]),
    ),
    ("java/util/concurrent/locks/StampedLock", Only(&["state"])),
    (
        "java/util/concurrent/locks/ReentrantReadWriteLock$Sync",
        None,
    ),
    (
        "java/util/concurrent/locks/AbstractOwnableSynchronizer",
        None,
    ),
    (
        "java/util/concurrent/ThreadPoolExecutor",
        Only(&[
            "corePoolSize",
            "maximumPoolSize",
            "keepAliveTime",
            "allowCoreThreadTimeOut",
            "threadFactory",
            "handler",
        ]),
    ),
    ("java/util/concurrent/ForkJoinPool", None),
    ("java/util/concurrent/ForkJoinWorkerThread", None),
    ("java/util/concurrent/ThreadLocalRandom", None),
    ("java/util/concurrent/Executors$DefaultThreadFactory", None),
    ("java/util/Currency", None),
    ("java/util/Locale", None),
    ("java/util/UUID", None),
    ("java/util/Timer", None),
    ("java/util/TimerThread", None),
    ("java/util/ServiceLoader", Only(&["instantiatedProviders"])),
    ("java/util/TimeZone", Without(&["zoneId"])),
    ("java/util/ResourceBundle", None),
    ("java/util/PropertyResourceBundle", None),
    ("java/util/ListResourceBundle", None),
    ("java/util/jar/", None),
    ("java/util/prefs/", None),
    ("java/util/regex/Pattern", None),
    ("java/util/regex/CharPredicates", None),
    ("java/util/zip/ZipFile", None),
    (
        "java/util/logging/Logger$ConfigurationData",
        Only(&[
            "levelObject",
            "levelValue",
            "filter",
            "handlers",
            "useParentHandlers",
        ]),
    ),
    (
        "java/util/logging/Logger",
        Only(&["config", "levelObject", "levelValue", "filter", "handlers"]),
    ),
    (
        "java/util/logging/Handler",
        Only(&["filter", "formatter", "logLevel"]),
    ),
    ("java/util/logging/MemoryHandler", All),
    ("java/util/logging/LogRecord", All),
    ("java/util/logging/", None),
    ("java/", All),
    ("javax/management/", None),
    ("javax/swing/", None),
    ("javax/", All),
    ("sun/nio/cs/StreamEncoder", All),
    ("sun/nio/cs/StreamDecoder", All),
    ("sun/nio/cs/", None),
    ("sun/nio/fs/", None),
    ("sun/util/calendar/ZoneInfo", Without(&["lastRule"])),
    ("sun/util/calendar/", All),
    ("sun/security/jca/ProviderList", Only(&["configs"])),
    (
        "sun/security/jca/ProviderConfig",
        Only(&["provName", "argument"]),
    ),
    ("sun/security/jca/", None),
    ("sun/security/ssl/", None),
    ("sun/awt/", None),
    ("sun/font/", None),
    ("sun/invoke/", None),
    ("sun/java2d/", None),
    ("sun/management/", None),
    ("sun/misc/", None),
    ("sun/net/", None),
    ("sun/reflect/", None),
    ("sun/util/", None),
    ("com/sun/jmx/", None),
    ("com/sun/management/", None),
    ("jdk/", None),
];

/// Libraries that hold objects for a program, like the JDK's collections. Objects of other
/// libraries count by identity.
const CONTAINERS: [&str; 12] = [
    "com/google/common/base/Suppliers",
    "com/google/common/cache/",
    "com/google/common/collect/",
    "com/google/common/util/concurrent/Atomic",
    "gnu/trove/",
    "groovy/lang/Closure",
    "groovy/lang/Reference",
    "io/vavr/",
    "it/unimi/dsi/fastutil/",
    "kotlin/",
    "org/apache/commons/collections",
    "scala/",
];

pub fn is_container(class: &str) -> bool {
    CONTAINERS.iter().any(|prefix| class.starts_with(prefix))
}

/// Whether this is the type of the JDK collections' internal nodes, or of arrays of them. A
/// program never sees their identity.
pub fn is_node(descriptor: &str) -> bool {
    let name = descriptor.trim_start_matches('[');
    let endings = ["$Node;", "$Entry;", "$TreeNode;", "$Index;"];
    name.starts_with("Ljava/util/")
        && name != "Ljava/util/Map$Entry;"
        && endings.iter().any(|ending| name.ends_with(ending))
}

/// The rule for a class of the JDK.
pub fn of_jdk(class: &str) -> Rule {
    // The values bound to a method handle; there is one class for each shape.
    if class.starts_with("java/lang/invoke/BoundMethodHandle$Species_") {
        return All;
    }
    let fits = |(prefix, _): &&(&str, Rule)| {
        class
            .strip_prefix(prefix)
            .is_some_and(|rest| prefix.ends_with('/') || rest.is_empty() || rest.starts_with('$'))
    };
    JDK.iter().find(fits).map_or(All, |(_, rule)| *rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_counts() {
        assert_eq!(of_jdk("java/util/Locale$Cache"), None);
        assert_eq!(of_jdk("java/util/LocaleFree"), All);
        assert_eq!(of_jdk("java/io/FilePermission"), All);
        assert!(of_jdk("java/util/HashMap").has("table"));
        assert!(!of_jdk("java/util/HashMap").has("entrySet"));
        assert_eq!(of_jdk("java/lang/String"), None);
        assert_eq!(of_jdk("com/sun/x/Y"), All);
    }

    #[test]
    fn whole_packages_come_behind_their_exceptions() {
        for (at, (prefix, _)) in JDK.iter().enumerate() {
            let hides =
                |(other, _): &(&str, Rule)| other.ends_with('/') && prefix.starts_with(other);
            assert!(!JDK[..at].iter().any(hides), "{prefix} is hidden");
        }
    }
}
