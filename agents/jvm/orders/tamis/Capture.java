package tamis;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.net.MalformedURLException;
import java.net.URL;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * Writes down how Surefire has set up the JVM that this agent is loaded into, as soon as it
 * turns to its test framework. By then all that it tells tests is in place, and no test has run.
 */
public final class Capture implements ClassFileTransformer {
    private static final String[] FRAMEWORKS = {"org/junit/", "junit/framework/", "org/testng/"};

    private final File folder;
    private final String path;
    private final Instrumentation instrumentation;
    private boolean isDone;

    private Capture(File folder, String path, Instrumentation instrumentation) {
        this.folder = folder;
        this.path = path;
        this.instrumentation = instrumentation;
    }

    public static void premain(String folder, Instrumentation instrumentation) {
        String command = System.getProperty("sun.java.command", "");
        // The variable that brings this agent also brings it into Maven's own JVM.
        if (command.contains("surefirebooter") || command.startsWith("org.apache.maven.surefire.")) {
            String path = System.getProperty("java.class.path");
            instrumentation.addTransformer(new Capture(new File(folder), path, instrumentation));
        }
    }

    @Override
    public synchronized byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (isDone || name == null || loader == null) {
            return null;
        }
        for (String framework : FRAMEWORKS) {
            if (name.startsWith(framework)) {
                isDone = true;
                try {
                    write(loader, name.startsWith("org/testng/"));
                } catch (IOException error) {
                    error.printStackTrace();
                }
            }
        }
        return null;
    }

    private void write(ClassLoader loader, boolean isTestng) throws IOException {
        Map<String, String> fields = new TreeMap<>();
        List<String> entries = new ArrayList<>();
        for (String entry : path.split(File.pathSeparator)) {
            entries.add(entry);
            entries.addAll(named(new File(entry)));
        }
        fields.put("path", Json.list(entries));
        // Of an isolated class loader nobody but itself knows what it loads from.
        fields.put("isolated", String.valueOf(loader != ClassLoader.getSystemClassLoader()));
        fields.put("arguments", Json.list(ManagementFactory.getRuntimeMXBean().getInputArguments()));
        fields.put("environment", Json.map(System.getenv()));
        Map<String, String> properties = new TreeMap<>();
        for (String name : System.getProperties().stringPropertyNames()) {
            properties.put(name, System.getProperty(name));
        }
        fields.put("properties", Json.map(properties));
        fields.put("assertions", String.valueOf(hasAssertions()));
        fields.put("testng", String.valueOf(isTestng));
        fields.put("junit3", has(loader, "junit/framework/TestListener.class"));
        fields.put("junit4", has(loader, "org/junit/runner/Request.class"));
        fields.put("platform", has(loader, "org/junit/platform/launcher/PostDiscoveryFilter.class"));
        fields.put("jupiter", has(loader, "org/junit/jupiter/api/MethodOrderer.class"));
        File unfinished = File.createTempFile("capture", ".part", folder);
        try (PrintStream out = new PrintStream(unfinished, "UTF-8")) {
            out.print(Json.object(fields));
        }
        File whole = new File(folder, unfinished.getName().replace(".part", ".json"));
        if (!unfinished.renameTo(whole)) {
            throw new IOException("cannot write " + whole);
        }
    }

    /** What the manifest of a jar names: Surefire's own has the whole class path there. */
    private static List<String> named(File jar) throws IOException {
        if (!jar.isFile()) {
            return Collections.emptyList();
        }
        List<String> named = new ArrayList<>();
        try (JarFile file = new JarFile(jar)) {
            Manifest manifest = file.getManifest();
            String path = manifest == null ? null : manifest.getMainAttributes().getValue("Class-Path");
            if (path == null || !jar.getName().startsWith("surefirebooter")) {
                return named;
            }
            for (String entry : path.trim().split(" +")) {
                try {
                    named.add(new File(new URL(jar.toURI().toURL(), entry).toURI()).getPath());
                } catch (MalformedURLException | java.net.URISyntaxException error) {
                    throw new IOException(entry, error);
                }
            }
        }
        return named;
    }

    /** Surefire turns them on for a class loader, and not by an option of the JVM. */
    private boolean hasAssertions() {
        for (Class<?> one : Arrays.asList(instrumentation.getAllLoadedClasses())) {
            if (one.getName().startsWith("org.apache.maven.surefire.booter.")) {
                return one.desiredAssertionStatus();
            }
        }
        return true;
    }

    private static String has(ClassLoader loader, String resource) {
        return String.valueOf(loader.getResource(resource) != null);
    }
}
