//! Hooks for state that the JDK keeps for a whole process or by name.

use super::{BOTH, FIRST, Hook, NOTHING, SECOND, STRING, THIS, THIS_AND_SECOND, hook};

/// All methods with this name; the hook passes on nothing.
const fn any(method: &'static str, native: &'static str) -> Hook {
    hook(method, "(", NOTHING, native)
}

/// Classes that are not loaded only to get hooks. They have methods that set process-wide
/// state, and methods that make or ask for things kept by name.
pub const LATER: &[(&str, &[Hook])] = &[
    ("java/util/Locale", &[any("setDefault", "localeSet")]),
    (
        "java/lang/ThreadLocal",
        &[
            hook("setInitialValue", "(", THIS, "localMaking"),
            hook(
                "createMap",
                "(Ljava/lang/Thread;Ljava/lang/Object;)",
                THIS_AND_SECOND,
                "localMade",
            ),
        ],
    ),
    (
        "java/lang/ThreadLocal$ThreadLocalMap",
        &[hook("set", "(Ljava/lang/ThreadLocal;", BOTH, "localMade")],
    ),
    ("java/util/TimeZone", &[any("setDefault", "zoneSet")]),
    (
        "java/lang/Thread",
        &[any("setDefaultUncaughtExceptionHandler", "everyoneSet")],
    ),
    (
        "java/net/Authenticator",
        &[any("setDefault", "everyoneSet")],
    ),
    (
        "java/net/CookieHandler",
        &[any("setDefault", "everyoneSet")],
    ),
    (
        "java/net/DatagramSocket",
        &[any("setDatagramSocketImplFactory", "everyoneSet")],
    ),
    (
        "java/net/HttpURLConnection",
        &[any("setFollowRedirects", "everyoneSet")],
    ),
    (
        "java/net/ProxySelector",
        &[any("setDefault", "everyoneSet")],
    ),
    (
        "java/net/ResponseCache",
        &[any("setDefault", "everyoneSet")],
    ),
    (
        "java/net/ServerSocket",
        &[any("setSocketFactory", "everyoneSet")],
    ),
    (
        "java/net/Socket",
        &[any("setSocketImplFactory", "everyoneSet")],
    ),
    (
        "java/net/URL",
        &[any("setURLStreamHandlerFactory", "everyoneSet")],
    ),
    (
        "java/net/URLConnection",
        &[
            any("setContentHandlerFactory", "everyoneSet"),
            any("setDefaultAllowUserInteraction", "everyoneSet"),
            any("setDefaultUseCaches", "everyoneSet"),
            any("setFileNameMap", "everyoneSet"),
        ],
    ),
    (
        "java/security/Security",
        &[
            any("insertProviderAt", "everyoneSet"),
            any("removeProvider", "everyoneSet"),
            any("setProperty", "everyoneSet"),
        ],
    ),
    // In a module of the platform's loader.
    (
        "java/sql/DriverManager",
        &[
            any("registerDriver", "everyoneSet"),
            any("deregisterDriver", "everyoneSet"),
            any("setLoginTimeout", "everyoneSet"),
        ],
    ),
    (
        "javax/net/ssl/HttpsURLConnection",
        &[
            any("setDefaultHostnameVerifier", "everyoneSet"),
            any("setDefaultSSLSocketFactory", "everyoneSet"),
        ],
    ),
    (
        "java/util/logging/Logger",
        &[
            any("addHandler", "loggingSet"),
            any("removeHandler", "loggingSet"),
            any("setFilter", "loggingSet"),
            any("setLevel", "loggingSet"),
            any("setUseParentHandlers", "loggingSet"),
        ],
    ),
    (
        "java/util/logging/Handler",
        &[
            any("setFilter", "loggingSet"),
            any("setFormatter", "loggingSet"),
            any("setLevel", "loggingSet"),
        ],
    ),
    (
        "java/util/logging/LogManager",
        &[
            any("readConfiguration", "loggingSet"),
            any("reset", "loggingSet"),
            any("updateConfiguration", "loggingSet"),
        ],
    ),
    (
        "java/util/prefs/AbstractPreferences",
        &[
            hook("put", STRING, NOTHING, "preferencesSet"),
            hook("remove", STRING, NOTHING, "preferencesSet"),
            any("clear", "preferencesSet"),
            any("removeNode", "preferencesSet"),
            hook("get", STRING, NOTHING, "preferencesAsked"),
            any("keys", "preferencesAsked"),
            any("childrenNames", "preferencesAsked"),
            any("nodeExists", "preferencesAsked"),
        ],
    ),
    (
        "com/sun/jmx/mbeanserver/Repository",
        &[
            hook("addMBean", "(L", SECOND, "beanSet"),
            hook("remove", "(L", FIRST, "beanSet"),
            hook("retrieveNamedObject", "(L", FIRST, "beanAsked"),
            hook("contains", "(L", FIRST, "beanAsked"),
            hook("query", "(L", NOTHING, "beansAsked"),
        ],
    ),
];
