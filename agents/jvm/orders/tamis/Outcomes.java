package tamis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** How the tests of one class ended, as its framework reports it. */
final class Outcomes {
    private static final int LONGEST = 300;

    /** The id of the test that runs, for who watches from outside. */
    @SuppressWarnings("unused")
    private static String current;

    private final String of;
    private final Consumer<String> tell;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<String, One> all = new HashMap<>();
    private String running;

    private static final class One {
        String word = "skipped";
        String said;
        long since;
        long nanoseconds;
    }

    Outcomes(String of, List<String> methods, List<Integer> numbers, Consumer<String> tell) {
        this.of = of;
        this.tell = tell;
        for (int at = 0; at < methods.size(); at++) {
            this.numbers.put(methods.get(at), numbers.get(at));
            all.put(methods.get(at), new One());
        }
    }

    /** The name under which a method was asked for: all invocations of one are one test. */
    private String known(String method) {
        return all.containsKey("") ? "" : method;
    }

    void begin(String method) {
        method = known(method);
        One one = all.get(method);
        if (one == null) {
            return;
        }
        if (!method.equals(running)) {
            end();
            running = method;
            current = method.isEmpty() ? of : of + "#" + method;
            tell.accept("[\"b\"," + numbers.get(method) + "]");
        }
        if (one.word.equals("skipped") && one.said == null) {
            one.word = "passed";
        }
        one.since = System.nanoTime();
    }

    void finish(String method) {
        One one = all.get(known(method));
        if (one != null && one.since != 0) {
            one.nanoseconds += System.nanoTime() - one.since;
            one.since = 0;
        }
    }

    void fail(String method, Throwable why) {
        One one = all.get(known(method));
        if (one != null) {
            set(one, "failed", why);
        }
    }

    /** By an assumption, or for good; an invocation that passes or fails counts for more. */
    void skip(String method, String why) {
        One one = all.get(known(method));
        if (one != null && !one.word.equals("failed")) {
            one.word = "skipped";
            one.said = why == null ? "" : why;
        }
    }

    /** What all methods share failed before any of them ran. Behind them it is nobody's. */
    void failAll(Throwable why) {
        for (One one : all.values()) {
            if (running == null) {
                set(one, "error", why);
            }
        }
    }

    private static void set(One one, String word, Throwable why) {
        one.word = word;
        String said = String.valueOf(why).split("\n", 2)[0];
        one.said = said.length() > LONGEST ? said.substring(0, LONGEST) : said;
    }

    private void end() {
        if (running != null) {
            tell(running);
            running = null;
        }
    }

    /** Tells of all: of those that were told already again, as invocations may alternate. */
    void close() {
        running = null;
        current = null;
        List<String> methods = new ArrayList<>(all.keySet());
        methods.sort((a, b) -> numbers.get(a) - numbers.get(b));
        for (String method : methods) {
            tell(method);
        }
    }

    private void tell(String method) {
        One one = all.get(method);
        String said = one.word.equals("passed") ? null : one.said;
        tell.accept("[\"e\"," + numbers.get(method) + "," + Json.text(one.word) + ","
                + one.nanoseconds / 1e9 + "," + Json.text(said) + "]");
    }
}
