//! State that one test class leaves to another: in static fields, through objects of the JDK,
//! and in the state that a process has once.

use super::harness::*;

/// In each pair the first test causes a call of `Made.x()` and leaves its result; the second
/// only finds it.
const LEFT: &str = r#"
-- src/main/java/demo/Lambda.java --
package demo;
import java.util.function.Supplier;
public class Lambda {
    public static final Supplier<Object> VALUE = once(() -> Made.lambda());
    static Supplier<Object> once(Supplier<Object> from) {
        Object[] kept = new Object[1];
        return () -> { if (kept[0] == null) { kept[0] = from.get(); } return kept[0]; };
    }
}
-- src/main/java/demo/Kept.java --
package demo;
import java.lang.invoke.*;
import java.lang.ref.*;
import java.util.*;
public class Kept {
    public static class Text { public static final StringBuilder ALL = new StringBuilder(); }
    public static class Heap { public static final java.nio.ByteBuffer ALL = java.nio.ByteBuffer.allocate(8); }
    public static class Direct { public static final java.nio.IntBuffer ALL = java.nio.ByteBuffer.allocateDirect(8).asIntBuffer(); }
    public static class Format { public static final java.text.SimpleDateFormat ALL = new java.text.SimpleDateFormat("yy"); }
    public static class Digest {
        public static final java.security.MessageDigest ALL = make();
        static java.security.MessageDigest make() {
            try { return java.security.MessageDigest.getInstance("SHA-256"); } catch (Exception e) { throw new Error(e); }
        }
    }
    public static class Day { public static final Date ALL = new Date(0); }
    public static class Soft { public static final Reference<int[]> ALL = new SoftReference<>(new int[1]); }
    public static class Bound {
        static final StringBuilder held() { return new StringBuilder(); }
        public static final MethodHandle ALL = make();
        static MethodHandle make() {
            try {
                MethodType type = MethodType.methodType(StringBuilder.class, String.class);
                return MethodHandles.publicLookup().findVirtual(StringBuilder.class, "append", type).bindTo(held());
            } catch (Exception e) { throw new Error(e); }
        }
    }
    public static class OfClass {
        public static final ClassValue<Integer> ALL = new ClassValue<>() {
            protected Integer computeValue(Class<?> type) { return Made.ofClass(); }
        };
    }
    public static class OfThread {
        public static final ThreadLocal<Integer> ALL = ThreadLocal.withInitial(() -> Made.ofThread());
    }
    public static class Pool {
        public static final java.util.concurrent.ExecutorService ALL = java.util.concurrent.Executors.newFixedThreadPool(1, work -> {
            Thread thread = new Thread(work);
            thread.setDaemon(true);
            return thread;
        });
    }
    public static class Proxied {
        public static final Runnable ALL = (Runnable) java.lang.reflect.Proxy.newProxyInstance(
            Kept.class.getClassLoader(), new Class<?>[] { Runnable.class }, new java.lang.reflect.InvocationHandler() {
                boolean ran;
                public Object invoke(Object proxy, java.lang.reflect.Method method, Object[] with) {
                    if (!ran) { Made.proxied(); ran = true; }
                    return null;
                }
            });
    }
    // Two paths to one object.
    public static class One { public static final StringBuilder ALL = new StringBuilder(); }
    public static class Other { public static StringBuilder all; }
}
-- src/main/java/demo/Made.java --
package demo;
public class Made {
    public static String lambda() { return "lambda"; }
    public static String text() { return "text"; }
    public static byte heap() { return 5; }
    public static int direct() { return 5; }
    public static String format() { return "yyyy"; }
    public static byte digest() { return 5; }
    public static long day() { return 5; }
    public static int soft() { return 5; }
    public static String bound() { return "bound"; }
    public static int ofClass() { return 5; }
    public static int ofThread() { return 5; }
    public static void pool() { }
    public static void proxied() { }
    public static String aliased() { return "aliased"; }
    public static String locale() { return "fr"; }
    public static String zone() { return "Etc/GMT+5"; }
    public static String property() { return "property"; }
    public static String level() { return "FINEST"; }
    public static int bean() { return 5; }
    public static String security() { return "security"; }
    public static int stream() { return 5; }
}
-- src/main/java/demo/CountMBean.java --
package demo;
public interface CountMBean { int getCount(); }
-- src/main/java/demo/Count.java --
package demo;
public class Count implements CountMBean {
    private final int count;
    public Count(int count) { this.count = count; }
    public int getCount() { return count; }
}
-- src/main/resources/words.properties --
word = something
-- src/main/java/demo/Words.java --
package demo;
public class Words {
    public static String word() { return java.util.ResourceBundle.getBundle("words").getString("word"); }
}
"#;

/// The statements of the first and second test of each pair.
const PAIRS: [(&str, &str, &str); 21] = [
    (
        "Lambda",
        "assertEquals(6, Lambda.VALUE.get().toString().length());",
        "assertTrue(Lambda.VALUE.get().toString().length() == 6);",
    ),
    (
        "Text",
        "Kept.Text.ALL.append(Made.text());",
        "assertEquals(\"text\", Kept.Text.ALL.toString());",
    ),
    (
        "Heap",
        "Kept.Heap.ALL.array()[0] = Made.heap();",
        "assertEquals(5, Kept.Heap.ALL.array()[0]);",
    ),
    (
        "Direct",
        "Kept.Direct.ALL.put(1, Made.direct());",
        "assertEquals(5, Kept.Direct.ALL.get(1));",
    ),
    (
        "Format",
        "Kept.Format.ALL.applyPattern(Made.format());",
        "assertEquals(\"yyyy\", Kept.Format.ALL.toPattern());",
    ),
    (
        "Digest",
        "Kept.Digest.ALL.update(Made.digest());",
        "assertEquals(32, Kept.Digest.ALL.digest().length);",
    ),
    (
        "Day",
        "Kept.Day.ALL.setTime(Made.day());",
        "assertEquals(5, Kept.Day.ALL.getTime());",
    ),
    (
        "Soft",
        "Kept.Soft.ALL.get()[0] = Made.soft();",
        "assertEquals(5, Kept.Soft.ALL.get()[0]);",
    ),
    (
        "Bound",
        "bound(Made.bound());",
        "assertEquals(\"bound\", bound(\"\"));",
    ),
    (
        "OfClass",
        "assertEquals(5, Kept.OfClass.ALL.get(String.class));",
        "assertTrue(Kept.OfClass.ALL.get(String.class) == 5);",
    ),
    (
        "OfThread",
        "assertEquals(5, Kept.OfThread.ALL.get());",
        "assertTrue(Kept.OfThread.ALL.get() == 5);",
    ),
    (
        "Pool",
        "Made.pool(); Kept.Pool.ALL.shutdown();",
        "assertTrue(Kept.Pool.ALL.isShutdown());",
    ),
    (
        "Proxied",
        "Kept.Proxied.ALL.run();",
        "Kept.Proxied.ALL.run();",
    ),
    (
        "Aliased",
        "Kept.Other.all = Kept.One.ALL;",
        "assertEquals(\"aliased\", Kept.Other.all.toString());",
    ),
    (
        "Locale",
        "java.util.Locale.setDefault(new java.util.Locale(Made.locale()));",
        "assertEquals(\"1,5\", String.format(\"%.1f\", 1.5));",
    ),
    (
        "Zone",
        "java.util.TimeZone.setDefault(java.util.TimeZone.getTimeZone(Made.zone()));",
        "assertEquals(19, java.time.Instant.EPOCH.atZone(java.time.ZoneId.systemDefault()).getHour());",
    ),
    (
        "Property",
        "System.getProperties().put(\"demo.left\", Made.property());",
        "assertEquals(\"property\", System.getProperty(\"demo.left\"));",
    ),
    (
        "Level",
        "java.util.logging.Logger.getLogger(\"\").setLevel(java.util.logging.Level.parse(Made.level()));",
        "assertTrue(java.util.logging.Logger.getLogger(\"demo\").isLoggable(java.util.logging.Level.FINEST));",
    ),
    (
        "Bean",
        "java.lang.management.ManagementFactory.getPlatformMBeanServer().registerMBean(new Count(Made.bean()), new javax.management.ObjectName(\"demo:type=Count\"));",
        "assertEquals(5, java.lang.management.ManagementFactory.getPlatformMBeanServer().getAttribute(new javax.management.ObjectName(\"demo:type=Count\"), \"Count\"));",
    ),
    (
        "XSecurity",
        "java.security.Security.setProperty(\"demo.left\", Made.security());",
        "assertEquals(\"security\", java.security.Security.getProperty(\"demo.left\"));",
    ),
    (
        "YStream",
        "int made = Made.stream(); System.setIn(new java.io.ByteArrayInputStream(new byte[made]));",
        "assertEquals(5, System.in.available());",
    ),
];

/// Effects of the JDK itself when it is used.
const QUIET: &str = r#"
-- src/main/java/demo/Quiet.java --
package demo;
import java.util.*;
public class Quiet {
    static final Map<String, String> MAP = new TreeMap<>(new HashMap<>(Map.of("a", "b")));
    static final java.text.DecimalFormat FORMAT = new java.text.DecimalFormat("0.00");
    static final java.util.logging.Logger LOG = java.util.logging.Logger.getLogger("demo.Quiet");
    static final java.util.concurrent.locks.ReentrantReadWriteLock LOCK = new java.util.concurrent.locks.ReentrantReadWriteLock();
    static final java.lang.reflect.Method METHOD = method();
    static final java.util.regex.Pattern PATTERN = java.util.regex.Pattern.compile("(a|b)+c");
    static final java.math.BigDecimal NUMBER = new java.math.BigDecimal("1.50");
    static final java.util.concurrent.ExecutorService POOL = java.util.concurrent.Executors.newCachedThreadPool();
    static final java.util.function.Function<String, Integer> LENGTH = String::length;
    static final Locale LOCALE = new Locale("de", "AT");
    static final ThreadLocal<List<String>> ROOM = ThreadLocal.withInitial(ArrayList::new);
    static final Properties COPY = (Properties) new Properties().clone();
    static java.lang.reflect.Method method() {
        try { return Quiet.class.getDeclaredMethod("none"); } catch (Exception e) { throw new Error(e); }
    }
    static void none() { }
    public static void use(String text) throws Exception {
        for (String key : MAP.keySet()) { MAP.get(key).hashCode(); }
        MAP.entrySet(); MAP.values(); COPY.keySet();
        ROOM.get().isEmpty();
        FORMAT.format(text.length() + 0.25);
        LOG.fine(text);
        java.util.logging.Logger.getLogger("demo." + text).fine(text);
        LOCK.writeLock().lock();
        LOCK.writeLock().unlock();
        LOCK.readLock().lock();
        LOCK.readLock().unlock();
        for (int at = 0; at < 20; at++) { METHOD.invoke(null); }
        PATTERN.matcher("ababc" + text).matches();
        NUMBER.toString().hashCode();
        NUMBER.add(java.math.BigDecimal.ONE).precision();
        POOL.submit(() -> text.length()).get();
        LENGTH.apply(text);
        LOCALE.toLanguageTag().hashCode();
        String.format("%.1f", 1.5).toUpperCase();
        TimeZone.getDefault().getID();
        new Date(0).toString();
        Charset();
    }
    static void Charset() { java.nio.charset.Charset.defaultCharset().aliases(); }
    /// Sets and puts back.
    public static void turn(Runnable meanwhile) {
        Locale locale = Locale.getDefault();
        TimeZone zone = TimeZone.getDefault();
        java.io.PrintStream out = System.out;
        java.util.logging.Level level = LOG.getLevel();
        java.util.logging.Handler handler = new java.util.logging.ConsoleHandler();
        Locale.setDefault(Locale.JAPAN);
        TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"));
        System.setOut(new java.io.PrintStream(new java.io.ByteArrayOutputStream()));
        LOG.setLevel(java.util.logging.Level.ALL);
        LOG.addHandler(handler);
        System.getProperties().put("demo.turned", "x");
        try { meanwhile.run(); } finally {
            Locale.setDefault(locale);
            TimeZone.setDefault(zone);
            System.setOut(out);
            LOG.setLevel(level);
            LOG.removeHandler(handler);
            System.getProperties().remove("demo.turned");
        }
    }
}
-- src/main/java/demo/Only.java --
package demo;
public class Only {
    public static String first() { return "first"; }
}
"#;

const BOUND: &str = "    static String bound(String with) {
        try { return ((StringBuilder) Kept.Bound.ALL.invokeExact(with)).toString(); }
        catch (Throwable thrown) { throw new AssertionError(thrown); }
    }
    @Test";

fn project() -> String {
    let ordered =
        "<version>3.2.5</version><configuration><runOrder>alphabetical</runOrder></configuration>";
    let mut text = vec![
        pom(JUPITER, "3.2.5", "").replace("<version>3.2.5</version>", ordered),
        LEFT.to_owned(),
        QUIET.to_owned(),
        test(
            "AAQuietTest",
            "Quiet.use(Only.first()); Quiet.turn(() -> Only.first());",
        ),
        test("ABQuietTest", "Quiet.use(\"second\");"),
        test(
            "ACQuietTest",
            "Quiet.use(\"third\"); Quiet.turn(() -> { });",
        ),
        test("AAWordsTest", "assertEquals(9, Words.word().length());"),
        test("ABWordsTest", "assertTrue(Words.word().length() == 9);"),
        test("LAliasedATest", "Kept.One.ALL.append(Made.aliased());"),
    ];
    for (name, first, second) in PAIRS {
        for (which, statements) in [("A", first), ("B", second)] {
            let order = match name {
                // The first test is between them, and knows the object by another name.
                "Aliased" => format!("L{name}{}Test", if which == "A" { "0" } else { which }),
                _ => format!("T{name}{which}Test"),
            };
            text.push(test(&order, statements).replacen("    @Test", BOUND, 1));
        }
    }
    text.concat()
}

/// An edit of what the first test of a pair made runs both.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_objects_of_the_jdk_hold_is_state() {
    if !has_maven() {
        return;
    }
    let project = Maven::new(&project());
    let all = project.run();
    assert_eq!(all.code, 0, "{}", all.told);
    assert!(all.told.contains("\"incomplete\":0"), "{}", all.told);
    project.run().are(&[]);
    // Effects of the JDK itself and restored values make no dependences.
    project.edit("src/main/java/demo/Only.java", "\"first\"", "\"First\"");
    project.run().are(&["demo.AAQuietTest"]);
    project.edit("src/main/resources/words.properties", "some", "SOME");
    project.run().are(&["demo.AAWordsTest", "demo.ABWordsTest"]);
    // The same values from other code.
    let made = "src/main/java/demo/Made.java";
    let text = project.read(made);
    let text = text.replace("return 5", "return (int) 5L");
    let text = text.replace("byte heap() { return (int)", "byte heap() { return (byte)");
    let text = text.replace(
        "byte digest() { return (int)",
        "byte digest() { return (byte)",
    );
    let text = text.replace("return \"", "return \"\" + new String() + \"");
    let text = text.replace("{ }", "{ new Object(); }");
    project.write(made, &text);
    project.commit("edit");
    let mut tests: Vec<String> = vec!["demo.LAliasedATest".into(), "demo.LAliasedBTest".into()];
    for (name, ..) in PAIRS.iter().filter(|(name, ..)| *name != "Aliased") {
        tests.extend(["A", "B"].map(|which| format!("demo.T{name}{which}Test")));
    }
    let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
    project.run().are(&tests);
}
