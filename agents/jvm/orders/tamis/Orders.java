package tamis;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.TimeZone;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Runs tests in orders that a socket names, each with classes that were never used before. It
 * is a JVM of its own, started as Surefire starts that of tests.
 */
public final class Orders {
    /** Packages of test frameworks: their classes stay, since they keep no state of tests. */
    private static final String[] FRAMEWORKS = {
        "org/junit/", "junit/", "org/hamcrest/", "org/opentest4j/", "org/apiguardian/", "tamis/",
        "org/apache/maven/surefire/"
    };

    private final ClassLoader frameworks;
    private final URL[] path;
    private final boolean assertions;
    private final Writer out;
    private final Settled settled = new Settled();

    private Orders(List<File> path, boolean assertions, Writer out) throws IOException {
        List<URL> frameworks = new ArrayList<>();
        List<URL> others = new ArrayList<>();
        for (File entry : path) {
            (isFramework(entry) ? frameworks : others).add(entry.toURI().toURL());
        }
        // No class of the JVM's own class path: the project may have other versions.
        ClassLoader jdk = ClassLoader.getSystemClassLoader().getParent();
        this.frameworks = new URLClassLoader(frameworks.toArray(new URL[0]), jdk);
        this.path = others.toArray(new URL[0]);
        this.assertions = assertions;
        this.out = out;
    }

    /** Whether there are classes of test frameworks in a jar or folder, and no others. */
    private static boolean isFramework(File entry) throws IOException {
        if (entry.isDirectory()) {
            return new File(entry, "tamis/Orders.class").isFile();
        }
        if (!entry.isFile()) {
            return false;
        }
        try (JarFile jar = new JarFile(entry)) {
            for (JarEntry one : Collections.list(jar.entries())) {
                String name = one.getName();
                boolean isClass = name.endsWith(".class") && !name.endsWith("-info.class");
                if (isClass && !name.startsWith("META-INF/") && !startsWithFramework(name)) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean startsWithFramework(String name) {
        for (String framework : FRAMEWORKS) {
            if (name.startsWith(framework)) {
                return true;
            }
        }
        return false;
    }

    public static void main(String[] args) throws Exception {
        Properties told = new Properties();
        try (InputStream in = new FileInputStream(args[0])) {
            told.load(in);
        }
        Socket socket =
                new Socket(InetAddress.getByName(null), Integer.parseInt(told.getProperty("port")));
        Writer out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8);
        BufferedReader in =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        out.write(told.getProperty("token") + "\n");
        out.flush();
        List<File> path = new ArrayList<>();
        for (String entry : told.getProperty("path").split("\n")) {
            path.add(new File(entry));
        }
        for (String name : told.stringPropertyNames()) {
            if (name.startsWith("property.")) {
                System.setProperty(name.substring("property.".length()), told.getProperty(name));
            }
        }
        boolean assertions = Boolean.parseBoolean(told.getProperty("assertions"));
        new Orders(path, assertions, out)
                .serve(told.getProperty("classes").split("\n"), in);
        // Threads that tests have left behind do not keep it.
        Runtime.getRuntime().halt(0);
    }

    private void serve(String[] classes, BufferedReader in) throws Exception {
        List<String> words = new ArrayList<>(Arrays.asList("list"));
        words.addAll(Arrays.asList(classes));
        Object tests = inside(words);
        List<String> ids = new ArrayList<>();
        for (Object id : (List<?>) tests) {
            ids.add((String) id);
        }
        say("{\"tests\":" + Json.list(ids) + ",\"cpu\":" + cpu() + "}");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> order = new ArrayList<>(Arrays.asList("run"));
            for (String number : line.split(" ")) {
                order.add(number);
                order.add(ids.get(Integer.parseInt(number)));
            }
            double before = cpu();
            int threads = Thread.activeCount();
            inside(renumbered(order));
            boolean leaves = Thread.activeCount() > threads;
            say("[\"d\",null," + (cpu() - before) + "," + leaves + "]");
        }
    }

    /** Tests by their places in the order instead of those in the suite. */
    private static List<String> renumbered(List<String> order) {
        for (int at = 1; at < order.size(); at += 2) {
            order.set(at, String.valueOf(at / 2));
        }
        return order;
    }

    private Object inside(List<String> words) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(path, frameworks)) {
            loader.setDefaultAssertionStatus(assertions);
            thread.setContextClassLoader(loader);
            @SuppressWarnings("unchecked")
            BiFunction<String[], Consumer<String>, Object> session =
                    (BiFunction<String[], Consumer<String>, Object>)
                            loader.loadClass("tamis.Session").getDeclaredConstructor().newInstance();
            Consumer<String> tell = this::say;
            return session.apply(words.toArray(new String[0]), tell);
        } catch (InvocationTargetException error) {
            throw new IllegalStateException(error.getCause());
        } finally {
            thread.setContextClassLoader(before);
            settled.restore();
        }
    }

    private void say(String line) {
        try {
            out.write(line + "\n");
            out.flush();
        } catch (IOException error) {
            // Nobody listens any more.
            Runtime.getRuntime().halt(1);
        }
    }

    /** Seconds of processor time so far. */
    private static double cpu() {
        java.lang.management.OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
        if (system instanceof com.sun.management.OperatingSystemMXBean) {
            return ((com.sun.management.OperatingSystemMXBean) system).getProcessCpuTime() / 1e9;
        }
        return 0;
    }

    /** What tests may change in classes of the JDK, as it was before any test. */
    private static final class Settled {
        private final Properties properties = (Properties) System.getProperties().clone();
        private final Locale locale = Locale.getDefault();
        private final Locale display = Locale.getDefault(Locale.Category.DISPLAY);
        private final Locale format = Locale.getDefault(Locale.Category.FORMAT);
        private final TimeZone zone = TimeZone.getDefault();
        private final InputStream in = System.in;
        private final PrintStream out = System.out;
        private final PrintStream err = System.err;

        void restore() {
            properties();
            Locale.setDefault(locale);
            Locale.setDefault(Locale.Category.DISPLAY, display);
            Locale.setDefault(Locale.Category.FORMAT, format);
            TimeZone.setDefault(zone);
            System.setIn(in);
            System.setOut(out);
            System.setErr(err);
            Thread.setDefaultUncaughtExceptionHandler(null);
        }

        private void properties() {
            Properties again = new Properties();
            again.putAll(properties);
            System.setProperties(again);
        }
    }
}
