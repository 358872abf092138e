import java.io.File;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/** Loads and links classes, and prints those that do not verify. */
public class LinkAll {
    static int linked;

    public static void main(String[] args) throws Exception {
        for (String arg : args) {
            if (arg.endsWith(".jar")) {
                jar(arg, args);
            } else {
                module(arg);
            }
        }
        System.out.println("linked " + linked);
    }

    static void module(String name) throws Exception {
        Path top = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules", name);
        List<String> names = new ArrayList<>();
        try (Stream<Path> all = Files.walk(top)) {
            all.filter(p -> p.toString().endsWith(".class")).forEach(p -> names.add(top.relativize(p).toString()));
        }
        for (String one : names) {
            link(one, ClassLoader.getSystemClassLoader());
        }
    }

    static void jar(String path, String[] args) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String arg : args) {
            if (arg.endsWith(".jar")) {
                urls.add(new File(arg).toURI().toURL());
            }
        }
        ClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getSystemClassLoader());
        try (JarFile jar = new JarFile(path)) {
            jar.stream().map(e -> e.getName())
                .filter(n -> n.endsWith(".class") && !n.startsWith("META-INF/")).forEach(n -> link(n, loader));
        }
    }

    static void link(String file, ClassLoader loader) {
        String name = file.substring(0, file.length() - ".class".length()).replace('/', '.');
        if (name.endsWith("module-info")) {
            return;
        }
        try {
            // Links, and so verifies.
            Class.forName(name, false, loader).getDeclaredMethods();
            linked++;
        } catch (VerifyError | ClassFormatError | BootstrapMethodError | UnsatisfiedLinkError error) {
            System.out.println("BAD " + name + " " + error.toString().split("\n")[0]);
        } catch (Throwable missing) {
            // Classes that need others which are not here.
            linked += 0;
        }
    }
}
