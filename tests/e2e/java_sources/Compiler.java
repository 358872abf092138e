import java.io.*;
import java.nio.file.*;
import java.util.*;
import javax.tools.*;

/** Compiles each folder that it is given, `src` to `classes`, and names those that do not compile. */
public class Compiler {
    public static void main(String[] folders) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        for (String name : folders) {
            Path folder = Paths.get(name);
            Path classes = Files.createDirectories(folder.resolve("classes"));
            List<String> words = new ArrayList<>(List.of("-g", "-nowarn", "-proc:none", "-parameters", "-d", classes.toString()));
            try (var all = Files.walk(folder.resolve("src"))) {
                all.filter(file -> file.toString().endsWith(".java")).forEach(file -> words.add(file.toString()));
            }
            var told = new ByteArrayOutputStream();
            if (compiler.run(null, told, told, words.toArray(new String[0])) != 0) {
                System.out.println(name + "\t" + told.toString().replace('\n', ' '));
            }
        }
    }
}
