package tamis;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * The tests as the class loader of the running thread has them: with classes that were never
 * used before. It is called from outside of the frameworks' own class loader, hence by types of
 * the JDK alone.
 */
public final class Session implements BiFunction<String[], Consumer<String>, Object> {
    private final List<Engine> engines = new ArrayList<>();

    public Session() throws Exception {
        // In this order: JUnit 4 takes each class with public methods for one of its own.
        for (String name : new String[] {"tamis.Platform", "tamis.JUnit4", "tamis.JUnit3"}) {
            try {
                engines.add((Engine) Class.forName(name).getDeclaredConstructor().newInstance());
            } catch (ClassNotFoundException error) {
                // The project does not have this one.
            }
        }
    }

    /** Lists the tests of classes, or runs tests: pairs of a number and an id. */
    @Override
    public Object apply(String[] words, Consumer<String> tell) {
        try {
            if (words[0].equals("list")) {
                return list(words);
            }
            run(words, tell);
            return null;
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private List<String> list(String[] words) throws Exception {
        Set<String> ids = new LinkedHashSet<>();
        Set<String> seen = new HashSet<>();
        for (int at = 1; at < words.length; at++) {
            list(words[at], ids, seen);
        }
        return new ArrayList<>(ids);
    }

    private void list(String name, Set<String> ids, Set<String> seen) throws Exception {
        Class<?> of = load(name);
        Engine engine = engineOf(of);
        if (engine == null || !seen.add(name)) {
            return;
        }
        List<String> methods = engine.methods(of);
        if (methods.contains("") && !engine.classes(of).contains(name)) {
            for (String part : engine.classes(of)) {
                list(part, ids, seen);
            }
            return;
        }
        for (String method : methods) {
            ids.add(method.isEmpty() ? name : name + "#" + method);
        }
    }

    private void run(String[] words, Consumer<String> tell) throws Exception {
        int at = 1;
        while (at < words.length) {
            String name = className(words[at + 1]);
            List<String> methods = new ArrayList<>();
            List<Integer> numbers = new ArrayList<>();
            for (; at < words.length && className(words[at + 1]).equals(name); at += 2) {
                String id = words[at + 1];
                methods.add(id.length() == name.length() ? "" : id.substring(name.length() + 1));
                numbers.add(Integer.valueOf(words[at]));
            }
            Outcomes outcomes = new Outcomes(name, methods, numbers, tell);
            Class<?> of = load(name);
            engineOf(of).run(of, methods, outcomes);
            outcomes.close();
        }
    }

    private static String className(String id) {
        int end = id.indexOf('#');
        return end < 0 ? id : id.substring(0, end);
    }

    /** Without its static initialiser: that is the framework's to run. */
    private static Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName(name, false, Thread.currentThread().getContextClassLoader());
    }

    private Engine engineOf(Class<?> of) throws Exception {
        for (Engine engine : engines) {
            if (!engine.methods(of).isEmpty()) {
                return engine;
            }
        }
        return null;
    }
}
