import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.jar.*;
import javax.tools.*;

/** Compiles each folder that it is given: all sources in `src` to `classes`. */
public class Harness {
    public static void main(String[] folders) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        for (String name : folders) {
            Path folder = Paths.get(name);
            Path classes = Files.createDirectories(folder.resolve("classes"));
            List<String> words = new ArrayList<>(List.of("-g", "-nowarn", "-d", classes.toString()));
            try (var all = Files.walk(folder.resolve("src"))) {
                all.filter(file -> file.toString().endsWith(".java")).forEach(file -> words.add(file.toString()));
            }
            if (compiler.run(null, null, System.err, words.toArray(new String[0])) != 0) {
                throw new Error("does not compile: " + name);
            }
            if (name.endsWith("/runner")) {
                pack(classes, folder.resolveSibling("runner.jar"));
            }
        }
    }

    static void pack(Path classes, Path jar) throws Exception {
        try (var out = new JarOutputStream(new FileOutputStream(jar.toFile())); var all = Files.walk(classes)) {
            for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
                out.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, out);
            }
        }
    }
}
