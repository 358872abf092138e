package tamis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.runner.Description;
import org.junit.runner.Request;
import org.junit.runner.Runner;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.manipulation.Filterable;
import org.junit.runner.manipulation.Sortable;
import org.junit.runner.manipulation.Sorter;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;
import org.junit.runner.notification.RunNotifier;

/** JUnit 4, and by it JUnit 3. */
final class JUnit4 implements Engine {
    @Override
    public List<String> methods(Class<?> of) {
        Runner runner = Request.aClass(of).getRunner();
        Set<String> names = new LinkedHashSet<>();
        boolean canFilter = runner instanceof Filterable && runner instanceof Sortable;
        boolean isPlain = collect(runner.getDescription(), of, names) && canFilter;
        if (names.isEmpty()) {
            return Collections.emptyList();
        }
        return isPlain ? new ArrayList<>(names) : Collections.singletonList("");
    }

    @Override
    public Set<String> classes(Class<?> of) {
        Set<String> classes = new LinkedHashSet<>();
        collectClasses(Request.aClass(of).getRunner().getDescription(), classes);
        return classes;
    }

    private static void collectClasses(Description below, Set<String> classes) {
        if (below.isTest()) {
            classes.add(below.getClassName());
        }
        for (Description child : below.getChildren()) {
            collectClasses(child, classes);
        }
    }

    /** Adds the names below; whether all of them are names of methods of the class. */
    private static boolean collect(Description below, Class<?> of, Set<String> names) {
        if (below.isTest()) {
            String name = nameOf(below);
            names.add(name);
            return !name.isEmpty() && of.getName().equals(below.getClassName())
                    // What cannot be collected is told by a test of this name.
                    && !name.equals("initializationError") && !name.equals("warning");
        }
        boolean isPlain = true;
        for (Description child : below.getChildren()) {
            isPlain &= collect(child, of, names);
        }
        return isPlain;
    }

    private static String nameOf(Description test) {
        String name = test.getMethodName();
        if (name == null) {
            return "";
        }
        int end = name.indexOf('[');
        return end < 0 ? name : name.substring(0, end);
    }

    @Override
    public void run(Class<?> of, List<String> methods, Outcomes outcomes) throws Exception {
        Runner runner = Request.aClass(of).getRunner();
        if (!methods.contains("")) {
            ((Filterable) runner).filter(new Filter() {
                @Override
                public boolean shouldRun(Description one) {
                    if (one.isTest()) {
                        return methods.contains(nameOf(one));
                    }
                    for (Description child : one.getChildren()) {
                        if (shouldRun(child)) {
                            return true;
                        }
                    }
                    return false;
                }

                @Override
                public String describe() {
                    return "methods that were asked for";
                }
            });
            ((Sortable) runner).sort(new Sorter(
                    (a, b) -> methods.indexOf(nameOf(a)) - methods.indexOf(nameOf(b))));
        }
        RunNotifier notifier = new RunNotifier();
        notifier.addListener(new RunListener() {
            @Override
            public void testStarted(Description test) {
                outcomes.begin(nameOf(test));
            }

            @Override
            public void testFinished(Description test) {
                outcomes.finish(nameOf(test));
            }

            @Override
            public void testFailure(Failure failure) {
                if (failure.getDescription().isTest() && failure.getDescription().getMethodName() != null) {
                    outcomes.fail(nameOf(failure.getDescription()), failure.getException());
                } else {
                    outcomes.failAll(failure.getException());
                }
            }

            @Override
            public void testAssumptionFailure(Failure failure) {
                outcomes.skip(nameOf(failure.getDescription()), failure.getMessage());
            }

            @Override
            public void testIgnored(Description test) {
                outcomes.skip(nameOf(test), "ignored");
            }
        });
        runner.run(notifier);
    }
}
