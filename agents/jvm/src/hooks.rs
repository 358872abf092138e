//! Methods of the JDK and of test frameworks that call the agent when they are called.

use crate::classfile::Member;

mod later;

pub use later::LATER;

/// A value that a hook passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    This,
    First,
    Second,
}

/// All methods with one name whose parameters begin with these types.
#[derive(Clone, Copy, Debug)]
pub struct Hook {
    pub method: &'static str,
    /// The beginning of the descriptor.
    pub parameters: &'static str,
    pub arguments: &'static [Argument],
    /// The native method to call.
    pub native: &'static str,
    /// Whether some versions lack this method.
    pub is_optional: bool,
}

impl Hook {
    pub fn is_for(&self, method: &Member<'_>) -> bool {
        method.name == self.method.as_bytes()
            && method.descriptor.starts_with(self.parameters.as_bytes())
            // Before its end, a constructor has no `this` to pass on.
            && !(method.name == b"<init>" && self.arguments.contains(&Argument::This))
            && !(method.is_static() && self.arguments.contains(&Argument::This))
    }
}

const NOTHING: &[Argument] = &[];
const THIS: &[Argument] = &[Argument::This];
const FIRST: &[Argument] = &[Argument::First];
const SECOND: &[Argument] = &[Argument::Second];
const BOTH: &[Argument] = &[Argument::First, Argument::Second];
const THIS_AND_SECOND: &[Argument] = &[Argument::This, Argument::Second];
const THIS_AND_FIRST: &[Argument] = &[Argument::This, Argument::First];

const fn hook(
    method: &'static str,
    parameters: &'static str,
    arguments: &'static [Argument],
    native: &'static str,
) -> Hook {
    Hook {
        method,
        parameters,
        arguments,
        native,
        is_optional: false,
    }
}

const fn optional(hook: Hook) -> Hook {
    Hook {
        is_optional: true,
        ..hook
    }
}

const BUNDLE: &str = "(Ljava/util/ResourceBundle$CacheKey;";
const STRING: &str = "(Ljava/lang/String;";
const OBJECT: &str = "(Ljava/lang/Object;";
const DESCRIPTION: &str = "(Lorg/junit/runner/Description;";
const NG_METHOD: &str = "(Lorg/testng/ITestNGMethod;";
const NG_CLASS: &str = "(Lorg/testng/ITestClass;";
const SPRING: &str = "(Lorg/springframework/test/context/MergedContextConfiguration;";
const ID: &str = "(Lorg/junit/platform/engine/UniqueId;";
const URL: &str = "(Ljava/net/URL;";

/// Classes of the JDK and their hooks: for environment variables, inspected classes, started
/// processes, and for files where calls of the system do not tell enough (`files::calls`).
pub const JDK: &[(&str, &[Hook])] = &[
    (
        "java/io/UnixFileSystem",
        &[hook(
            "canonicalize",
            "(Ljava/lang/String;)",
            FIRST,
            "canonical",
        )],
    ),
    // It caches what it loads for all later callers.
    (
        "java/util/ResourceBundle",
        &[
            hook("getBundle", STRING, FIRST, "bundle"),
            optional(hook("findBundleInCache", "(L", FIRST, "bundleAsked")),
            optional(hook("loadBundle", BUNDLE, FIRST, "bundleMaking")),
            optional(hook("putBundleInCache", BUNDLE, FIRST, "bundleMade")),
        ],
    ),
    // So does the cache of archives that are named by URLs.
    (
        "sun/net/www/protocol/jar/JarFileFactory",
        &[
            hook("get", URL, FIRST, "archive"),
            hook("getOrCreate", URL, FIRST, "archive"),
        ],
    ),
    (
        "java/lang/ProcessEnvironment$StringEnvironment",
        &[
            hook("get", "(Ljava/lang/Object;)", FIRST, "env"),
            hook("containsKey", "(Ljava/lang/Object;)", FIRST, "env"),
        ],
    ),
    // `Boolean.getBoolean` and the like call it, too.
    (
        "java/lang/System",
        &[
            hook("getProperty", STRING, FIRST, "gotProperty"),
            hook("setProperty", STRING, FIRST, "setProperty"),
            hook("clearProperty", STRING, FIRST, "setProperty"),
            hook("getProperties", "()", NOTHING, "allProperties"),
            hook("setProperties", "(", NOTHING, "allProperties"),
            hook("setIn", "(", NOTHING, "everyoneSet"),
            hook("setOut", "(", NOTHING, "everyoneSet"),
            hook("setErr", "(", NOTHING, "everyoneSet"),
            hook("setSecurityManager", "(", NOTHING, "everyoneSet"),
        ],
    ),
    (
        "java/lang/Class",
        &[
            hook("forName", "(Ljava/lang/String;", FIRST, "asked"),
            // From Java 9 on.
            optional(hook("forName", "(Ljava/lang/Module;", SECOND, "asked")),
            hook("reflectionData", "()", THIS, "used"),
            hook("annotationData", "()", THIS, "used"),
            hook("privateGetDeclaredFields", "(Z)", THIS, "used"),
            hook("privateGetDeclaredMethods", "(Z)", THIS, "used"),
            hook("privateGetDeclaredConstructors", "(Z)", THIS, "used"),
            hook("getDeclaredClasses", "()", THIS, "used"),
            hook("getRecordComponents", "()", THIS, "used"),
            hook("getNestHost", "()", THIS, "used"),
            hook("getNestMembers", "()", THIS, "used"),
            hook("isNestmateOf", "(", THIS, "used"),
            hook("getEnumConstantsShared", "()", THIS, "used"),
        ],
    ),
    (
        // The JVM itself calls it for each class that it loads.
        "java/lang/ClassLoader",
        &[hook("loadClass", "(Ljava/lang/String;)", FIRST, "named")],
    ),
    (
        "java/lang/invoke/MethodHandles$Lookup",
        &[
            hook("findVirtual", "(Ljava/lang/Class;", FIRST, "used"),
            hook("findStatic", "(Ljava/lang/Class;", FIRST, "used"),
            hook("findSpecial", "(Ljava/lang/Class;", FIRST, "used"),
            hook("findConstructor", "(Ljava/lang/Class;", FIRST, "used"),
            hook("findGetter", "(Ljava/lang/Class;", FIRST, "used"),
            hook("findSetter", "(Ljava/lang/Class;", FIRST, "used"),
            hook("findVarHandle", "(Ljava/lang/Class;", FIRST, "used"),
            hook("findStaticGetter", "(Ljava/lang/Class;", FIRST, "used"),
            hook("findStaticSetter", "(Ljava/lang/Class;", FIRST, "used"),
            hook("findStaticVarHandle", "(Ljava/lang/Class;", FIRST, "used"),
        ],
    ),
    (
        "java/io/ObjectStreamClass",
        &[hook("lookup", "(Ljava/lang/Class;", FIRST, "used")],
    ),
    (
        "java/lang/ProcessBuilder",
        &[hook("start", "()", THIS, "spawned")],
    ),
];

/// The class that runs Surefire's tests in a separate JVM.
pub const FORK: &str = "org/apache/maven/surefire/booter/ForkedBooter";

/// Methods of frameworks at the beginning and end of tests.
pub const FRAMEWORKS: &[(&str, &[Hook])] = &[
    (
        "org/junit/platform/launcher/core/ExecutionListenerAdapter",
        &[
            hook("executionStarted", "(L", FIRST, "started"),
            hook("executionFinished", "(L", BOTH, "finished"),
            hook("executionSkipped", "(L", FIRST, "skipped"),
        ],
    ),
    // Conditions and extensions of a class run before its start is announced.
    (
        "org/junit/platform/engine/support/hierarchical/NodeTestTask",
        &[hook("execute", "()", THIS, "prepared")],
    ),
    // How engines find tests: one engine after another, and these engines one test class after
    // another. Code that runs and classes that are inspected meanwhile belong to that test
    // class.
    (
        "org/junit/platform/launcher/core/EngineDiscoveryOrchestrator",
        &[optional(hook(
            "discoverEngineRoot",
            "(Lorg/junit/platform/engine/TestEngine;",
            NOTHING,
            "discovers",
        ))],
    ),
    (
        "org/junit/platform/launcher/EngineDiscoveryResult",
        &[
            optional(hook("successful", "()", NOTHING, "discovered")),
            optional(hook("failed", "(", NOTHING, "discovered")),
        ],
    ),
    (
        "org/junit/vintage/engine/discovery/VintageDiscoverer",
        &[optional(hook(
            "discover",
            "(Lorg/junit/platform/engine/EngineDiscoveryRequest;",
            SECOND,
            "discoversAll",
        ))],
    ),
    (
        "org/junit/vintage/engine/discovery/ClassSelectorResolver",
        &[
            optional(hook("resolve", "(L", NOTHING, "discoversNext")),
            optional(hook(
                "resolveTestClass",
                "(Ljava/lang/Class;",
                FIRST,
                "discoversClass",
            )),
            // From JUnit 6 on.
            optional(hook(
                "resolveTestClassThatPassedNameFilter",
                "(Ljava/lang/Class;",
                FIRST,
                "discoversClass",
            )),
        ],
    ),
    (
        "org/junit/vintage/engine/discovery/RunnerTestDescriptorPostProcessor",
        &[optional(hook(
            "applyFiltersAndCreateDescendants",
            "(L",
            FIRST,
            "discoversTest",
        ))],
    ),
    // Display names, up to the constructor that gets them, and the order of methods.
    (
        "org/junit/jupiter/engine/descriptor/JupiterTestDescriptor",
        &[optional(hook("<init>", ID, FIRST, "describes"))],
    ),
    (
        "org/junit/jupiter/engine/descriptor/MethodBasedTestDescriptor",
        &[optional(hook("<init>", ID, FIRST, "describes"))],
    ),
    (
        "org/junit/platform/engine/support/descriptor/AbstractTestDescriptor",
        &[optional(hook("<init>", ID, NOTHING, "described"))],
    ),
    (
        "org/junit/jupiter/engine/discovery/MethodOrderingVisitor",
        &[optional(hook(
            "visit",
            "(Lorg/junit/platform/engine/TestDescriptor;",
            FIRST,
            "discoversTest",
        ))],
    ),
    // Extensions from the configuration are made once, for all tests.
    (
        "org/junit/jupiter/engine/config/CachingJupiterConfiguration",
        &[
            optional(hook(
                "getDefaultDisplayNameGenerator",
                "()",
                NOTHING,
                "discoversNext",
            )),
            optional(hook(
                "getDefaultTestMethodOrderer",
                "()",
                NOTHING,
                "discoversNext",
            )),
            optional(hook(
                "getDefaultTestClassOrderer",
                "()",
                NOTHING,
                "discoversNext",
            )),
        ],
    ),
    (
        "org/junit/jupiter/engine/execution/NamespaceAwareStore",
        &[
            hook("get", OBJECT, THIS_AND_FIRST, "storeAsked"),
            hook(
                "getOrComputeIfAbsent",
                OBJECT,
                THIS_AND_FIRST,
                "storeFilled",
            ),
            // From JUnit 6 on.
            optional(hook(
                "computeIfAbsent",
                OBJECT,
                THIS_AND_FIRST,
                "storeFilled",
            )),
            hook("put", OBJECT, THIS_AND_FIRST, "storeChanged"),
            hook("remove", OBJECT, THIS_AND_FIRST, "storeChanged"),
        ],
    ),
    // Spring 4.1 to 6.2.
    (
        "org/springframework/test/context/cache/DefaultCacheAwareContextLoaderDelegate",
        &[optional(hook(
            "loadContextInternal",
            SPRING,
            FIRST,
            "contextMaking",
        ))],
    ),
    (
        "org/springframework/test/context/cache/DefaultContextCache",
        &[
            hook("get", SPRING, FIRST, "contextAsked"),
            hook("put", SPRING, FIRST, "contextMade"),
        ],
    ),
    // From Surefire 3.5.4 on, with JUnit 6. A test that is told to stop counts as skipped.
    (
        "org/apache/maven/surefire/junitplatform/CancellationTokenAdapter",
        &[hook("cancel", "()", THIS, "stopped")],
    ),
    (
        "org/apache/maven/surefire/junit4/JUnit4Provider",
        &[hook(
            "executeTestSet",
            "(Ljava/lang/Class;",
            FIRST,
            "testClass",
        )],
    ),
    // JUnit 3 without JUnit 4, and classes that are not a `TestCase`. Up to 3.0.0-M5 their
    // object is made before they run.
    (
        "org/apache/maven/surefire/junit/JUnit3Provider",
        &[hook("executeTestSet", "(L", FIRST, "setStarted")],
    ),
    (
        "org/apache/maven/surefire/junit/PojoTestSet",
        &[optional(hook(
            "<init>",
            "(Ljava/lang/Class;",
            FIRST,
            "setStarted",
        ))],
    ),
    // Up to 3.0.0-M4, and from M5 on.
    (
        "org/apache/maven/surefire/booter/ForkingRunListener",
        SUREFIRE,
    ),
    (
        "org/apache/maven/surefire/api/booter/ForkingRunListener",
        SUREFIRE,
    ),
    // The end of Surefire's JVM, from 2.20 on.
    (
        FORK,
        &[optional(hook("acknowledgedExit", "()", THIS, "lastEnded"))],
    ),
    // Gradle's JUnit 4, as called up to Gradle 4 and from 5 on. Gradle names the next class
    // before it is loaded, and then asks JUnit for it.
    (
        "org/gradle/api/internal/tasks/testing/junit/JUnitTestClassExecuter",
        &[hook("execute", STRING, FIRST, "testName")],
    ),
    (
        "org/gradle/api/internal/tasks/testing/junit/JUnitTestClassExecutor",
        &[hook("execute", STRING, FIRST, "testName")],
    ),
    (
        "org/junit/runner/Request",
        &[hook("aClass", "(Ljava/lang/Class;", FIRST, "testRequest")],
    ),
    (
        "org/junit/runner/notification/RunNotifier",
        &[
            hook(
                "fireTestFailure",
                "(Lorg/junit/runner/notification/Failure;",
                FIRST,
                "failed",
            ),
            // The two methods for suites exist from JUnit 4.13 on.
            optional(hook(
                "fireTestSuiteStarted",
                DESCRIPTION,
                FIRST,
                "suiteStarted",
            )),
            optional(hook(
                "fireTestSuiteFinished",
                DESCRIPTION,
                FIRST,
                "suiteFinished",
            )),
            hook("fireTestStarted", DESCRIPTION, FIRST, "methodStarted"),
            hook("fireTestFinished", DESCRIPTION, FIRST, "methodFinished"),
            hook("fireTestIgnored", DESCRIPTION, FIRST, "ignored"),
            hook("pleaseStop", "()", THIS, "stopped"),
        ],
    ),
    (
        "org/junit/runners/ParentRunner",
        &[hook(
            "run",
            "(Lorg/junit/runner/notification/RunNotifier;)",
            THIS,
            "runnerStarted",
        )],
    ),
    // TestNG 6.8 to 7.11, and what Surefire adds for `skipAfterFailureCount`.
    (
        "org/apache/maven/surefire/testng/utils/FailFastEventsSingleton",
        &[hook("setSkipOnNextTest", "()", THIS, "stopped")],
    ),
    (
        "org/testng/TestNG",
        &[
            hook("run", "()", THIS, "ngStarted"),
            hook("generateReports", "(Ljava/util/List;)", THIS, "ngEnded"),
        ],
    ),
    (
        "org/testng/SuiteRunner",
        &[
            hook("run", "()", THIS, "ngSuite"),
            hook("setAttribute", STRING, FIRST, "ngKept"),
            hook("getAttribute", STRING, FIRST, "ngAsked"),
        ],
    ),
    (
        "org/testng/TestRunner",
        &[
            hook("beforeRun", "()", THIS, "ngTests"),
            hook(
                "privateRun",
                "(Lorg/testng/xml/XmlTest;)",
                THIS,
                "ngTesting",
            ),
            optional(hook("privateRunJUnit", "(", THIS, "ngJUnit")),
            hook("afterRun", "()", THIS, "ngTested"),
            hook("addFailedTest", NG_METHOD, FIRST, "ngFailed"),
            hook(
                "addFailedButWithinSuccessPercentageTest",
                NG_METHOD,
                FIRST,
                "ngFailed",
            ),
            hook("addSkippedTest", NG_METHOD, BOTH, "ngSkipped"),
            hook("setAttribute", STRING, FIRST, "ngKept"),
            hook("getAttribute", STRING, FIRST, "ngAsked"),
        ],
    ),
    (
        "org/testng/TestRunner$ConfigurationListener",
        &[hook(
            "onConfigurationFailure",
            "(Lorg/testng/ITestResult;",
            FIRST,
            "ngNotPrepared",
        )],
    ),
    (
        "org/testng/internal/ClassImpl",
        &[hook("getDefaultInstance", "(", THIS, "ngMaking")],
    ),
    // Called once all objects are made.
    (
        "org/testng/internal/MethodGroupsHelper",
        &[hook(
            "findGroupsMethods",
            "(Ljava/util/Collection;",
            FIRST,
            "ngBetween",
        )],
    ),
    (
        "org/testng/internal/DynamicGraph",
        &[hook("setStatus", "(L", THIS, "ngBetween")],
    ),
    // Up to 7.4, and from 7.5 on.
    ("org/testng/internal/TestMethodWorker", NG_WORKER),
    ("org/testng/internal/invokers/TestMethodWorker", NG_WORKER),
    (
        "org/testng/internal/FactoryMethod",
        &[hook("invoke", "()", THIS, "ngFactory")],
    ),
    (
        "org/junit/support/testng/engine/TestNGTestEngine",
        &[hook("discover", "(", THIS, "ngEngine")],
    ),
];

/// The hooks of every provider of Surefire.
const SUREFIRE: &[Hook] = &[
    optional(hook("testSetCompleted", "(L", FIRST, "setEnded")),
    optional(hook("testError", "(L", FIRST, "setBroke")),
    optional(hook("testFailed", "(L", FIRST, "setBroke")),
];

const NG_WORKER: &[Hook] = &[
    hook("invokeBeforeClassMethods", NG_CLASS, FIRST, "ngClass"),
    hook("invokeTestMethods", NG_METHOD, FIRST, "ngMethod"),
    hook("invokeAfterClassMethods", NG_CLASS, FIRST, "ngClass"),
];

/// The hooks of a class, if it has any.
pub fn of(
    table: &'static [(&'static str, &'static [Hook])],
    class: &str,
) -> Option<&'static [Hook]> {
    let found = table.iter().find(|(name, _)| *name == class);
    found.map(|(_, hooks)| *hooks)
}
