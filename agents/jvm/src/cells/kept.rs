//! The fields in which the JDK keeps the state that a process has once.

use std::collections::HashMap;
use std::ffi::CStr;

use super::entries;
use crate::agent::Agent;
use crate::ffi::{Jni, Object, class_named, digest_of};
use crate::reach::{Round, field, field_of, len, mixed};

/// Static fields that count by the identity of their object, or by their value.
const FOR_EVERYONE: [(&str, &[&str]); 12] = [
    ("java/lang/System", &["in", "out", "err", "security"]),
    ("java/lang/Thread", &["defaultUncaughtExceptionHandler"]),
    ("java/net/Authenticator", &["theAuthenticator"]),
    ("java/net/CookieHandler", &["cookieHandler"]),
    ("java/net/DatagramSocket", &["factory"]),
    ("java/net/HttpURLConnection", &["followRedirects"]),
    ("java/net/ProxySelector", &["theProxySelector"]),
    ("java/net/ResponseCache", &["theResponseCache"]),
    ("java/net/ServerSocket", &["factory"]),
    ("java/net/Socket", &["factory"]),
    ("java/net/URL", &["factory"]),
    (
        "javax/net/ssl/HttpsURLConnection",
        &["defaultHostnameVerifier", "defaultSSLSocketFactory"],
    ),
];

/// Static fields that count by the content of their object.
const BY_CONTENT: [(&str, &[&str]); 4] = [
    (
        "java/net/URLConnection",
        &[
            "defaultAllowUserInteraction",
            "defaultCaching",
            "defaultUseCaches",
            "factory",
            "fileNameMap",
        ],
    ),
    ("java/security/Security", &["props"]),
    (
        "java/sql/DriverManager",
        &["loginTimeout", "registeredDrivers"],
    ),
    ("sun/security/jca/Providers", &["providerList"]),
];

pub unsafe fn locale(agent: &Agent, jni: Jni) -> u64 {
    let kind = c"Ljava/util/Locale;";
    let class = jni.find_class(c"java/util/Locale");
    let held = |name: &CStr| {
        let field = match class.is_null() {
            true => class,
            false => jni.static_field(class, name, kind),
        };
        match field.is_null() {
            true => 0,
            false => agent.jvmti.identity(jni.static_object(class, field)),
        }
    };
    let default = held(c"defaultLocale");
    let others = [c"defaultDisplayLocale", c"defaultFormatLocale"];
    // Created on first use, which is not a change.
    let others = others.map(|name| match held(name) {
        0 => default,
        other => other,
    });
    others.into_iter().fold(default, mixed)
}

pub unsafe fn zone(agent: &Agent, round: &mut Round<'_>) -> u64 {
    let jni = round.jni;
    let class = jni.find_class(c"java/util/TimeZone");
    if class.is_null() {
        return 0;
    }
    let zone = jni.static_field(class, c"defaultTimeZone", c"Ljava/util/TimeZone;");
    if zone.is_null() {
        agent.mistrust("the default time zone of this JDK is not found");
        return 0;
    }
    // Setting it makes a copy.
    let held = round.walk(true, |look| unsafe {
        look.meet(jni.static_object(class, zone));
    });
    held.and_then(|held| held.digest).unwrap_or_default()
}

pub unsafe fn for_everyone(agent: &Agent, round: &mut Round<'_>) -> u64 {
    let (jvmti, jni) = (agent.jvmti, round.jni);
    let mut digest = 0u64;
    let mut by_content = Vec::new();
    let wanted: HashMap<&str, (bool, &[&str])> = FOR_EVERYONE
        .iter()
        .map(|(class, fields)| (*class, (false, *fields)))
        .chain(
            BY_CONTENT
                .iter()
                .map(|(class, fields)| (*class, (true, *fields))),
        )
        .collect();
    for class in jvmti.loaded_classes() {
        let name = jvmti.signature(class);
        let name = name.as_deref().map(class_named);
        let found = name.and_then(|name| wanted.get(name));
        let Some((is_by_content, names)) = found.filter(|_| jvmti.is_initialised(class)) else {
            jni.drop_local(class);
            continue;
        };
        let fields = jvmti.fields(class).into_iter();
        for field in fields.filter(|field| field.is_static() && names.contains(&&*field.name)) {
            if *is_by_content {
                by_content.push((class, field));
                continue;
            }
            let bits = match field.is_reference() {
                true => jvmti.identity(jni.static_object(class, field.id)),
                false => jni.static_bits(class, field.id, field.kind),
            };
            // Classes come in any order.
            digest = digest.wrapping_add(mixed(name_digest(&field.name), bits));
        }
    }
    for (class, field) in &by_content {
        if field.is_reference() && is_default(agent, jni, jni.static_object(*class, field.id)) {
            continue;
        }
        let held = round.walk(true, |look| unsafe {
            look.field(*class, field.id, field.kind, true);
        });
        let held = held.and_then(|held| held.digest).unwrap_or_default();
        digest = digest.wrapping_add(mixed(name_digest(&field.name), held));
    }
    digest
}

/// Whether it is empty or the default that the JDK sets on first use. A program cannot see the
/// difference.
unsafe fn is_default(agent: &Agent, jni: Jni, held: Object) -> bool {
    const FILE_NAMES: [&str; 2] = ["java/net/URLConnection$1", "sun/net/www/MimeTable"];
    if held.is_null() {
        return true;
    }
    let class = jni.class_of(held);
    let signature = agent.jvmti.signature(class).unwrap_or_default();
    jni.drop_local(class);
    FILE_NAMES.contains(&class_named(&signature))
}

fn name_digest(name: &str) -> u64 {
    digest_of(name.as_bytes())
}

/// A digest of those JDK loggers that were configured. The other ones are created on first
/// use.
pub unsafe fn logging(agent: &Agent, round: &mut Round<'_>) -> u64 {
    let jni = round.jni;
    let manager = c"java/util/logging/LogManager";
    let class = jni.find_class(manager);
    if class.is_null() {
        return 0;
    }
    let field_id = jni.static_field(class, c"manager", c"Ljava/util/logging/LogManager;");
    if field_id.is_null() {
        return 0;
    }
    let held = jni.static_object(class, field_id);
    let mut digest = 0u64;
    for context in [c"userContext", c"systemContext"] {
        let kind = c"Ljava/util/logging/LogManager$LoggerContext;";
        let context = field(jni, held, field_of(jni, manager, context, kind));
        if context.is_null() {
            continue;
        }
        // The names from Java 9 on, and the older ones.
        let kinds = [
            c"Ljava/util/concurrent/ConcurrentHashMap;",
            c"Ljava/util/Hashtable;",
        ];
        let mut named = kinds.map(|kind| {
            let class = c"java/util/logging/LogManager$LoggerContext";
            field(jni, context, field_of(jni, class, c"namedLoggers", kind))
        });
        named.sort_by_key(|map| map.is_null());
        let referent = c"Ljava/lang/Object;";
        let referent = field_of(jni, c"java/lang/ref/Reference", c"referent", referent);
        for (name, weak) in entries(jni, named[0]) {
            let logger = field(jni, weak, referent);
            let name = jni.text(name).unwrap_or_default();
            let told = told_to(agent, round, logger, name.is_empty());
            if told != 0 {
                // Loggers come in any order, and the root logger is in both contexts.
                digest = digest.wrapping_add(mixed(name_digest(&name), told));
            }
        }
    }
    digest
}

/// A digest of a logger's level, filter and handlers; 0 if none was set. The JDK adds the root
/// logger's handlers late; these only print.
unsafe fn told_to(agent: &Agent, round: &mut Round<'_>, logger: Object, is_top: bool) -> u64 {
    let jni = round.jni;
    let kind = c"Ljava/util/logging/Logger$ConfigurationData;";
    let (mut class, mut of) = (c"java/util/logging/Logger", logger);
    let data = field(jni, logger, field_of(jni, class, c"config", kind));
    if !data.is_null() {
        (class, of) = (c"java/util/logging/Logger$ConfigurationData", data);
    }
    let held = |name: &CStr, kind: &CStr| field(jni, of, field_of(jni, class, name, kind));
    let level = held(c"levelObject", c"Ljava/util/logging/Level;");
    let filter = held(c"filter", c"Ljava/util/logging/Filter;");
    let handlers = held(c"handlers", c"Ljava/util/concurrent/CopyOnWriteArrayList;");
    let list = c"java/util/concurrent/CopyOnWriteArrayList";
    let handlers = field(
        jni,
        handlers,
        field_of(jni, list, c"array", c"[Ljava/lang/Object;"),
    );
    let uses_others = field_of(jni, class, c"useParentHandlers", c"Z");
    let uses_others = uses_others.is_null() || of.is_null() || jni.bits(of, uses_others, b'Z') != 0;
    let count = len(jni, handlers);
    if level.is_null() && filter.is_null() && count == 0 && uses_others {
        return 0;
    }
    let mut digest = 1 + u64::from(uses_others);
    for object in [level, filter] {
        digest = mixed(digest, agent.jvmti.identity(object));
    }
    for at in 0..count {
        let handler = jni.element_in(handlers, at);
        if is_top && agent.jvmti.is_of_boot_loader(jni.class_of(handler)) {
            continue;
        }
        digest = mixed(digest, agent.jvmti.identity(handler));
        let held = round.walk(true, |look| unsafe { look.meet(jni.local(handler)) });
        digest = mixed(
            digest,
            held.and_then(|held| held.digest).unwrap_or_default(),
        );
    }
    digest | 1
}
