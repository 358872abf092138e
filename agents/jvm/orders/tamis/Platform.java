package tamis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** JUnit's platform, of version 5 on. Tests of JUnit 4 run without it. */
final class Platform implements Engine {
    private final Launcher launcher = LauncherFactory.create();

    @Override
    public List<String> methods(Class<?> of) {
        TestPlan plan = launcher.discover(request(of, null));
        return new ArrayList<>(names(plan, plan.getRoots(), of.getName(), new LinkedHashSet<>()));
    }

    @Override
    public Set<String> classes(Class<?> of) {
        return Collections.singleton(of.getName());
    }

    @Override
    public void run(Class<?> of, List<String> methods, Outcomes outcomes) {
        for (List<String> part : runnable(of, methods)) {
            launcher.execute(request(of, part), new Listener(of.getName(), outcomes));
        }
    }

    /** The methods in parts that the platform runs in this very order, each as long as can be. */
    private List<List<String>> runnable(Class<?> of, List<String> methods) {
        TestPlan plan = launcher.discover(request(of, methods));
        List<String> own =
                new ArrayList<>(names(plan, plan.getRoots(), of.getName(), new LinkedHashSet<>()));
        if (own.equals(methods)) {
            return Collections.singletonList(methods);
        }
        List<List<String>> parts = new ArrayList<>();
        int last = Integer.MAX_VALUE;
        for (String method : methods) {
            int place = own.indexOf(method);
            if (place < last) {
                parts.add(new ArrayList<>());
            }
            parts.get(parts.size() - 1).add(method);
            last = place;
        }
        return parts;
    }

    private static LauncherDiscoveryRequest request(Class<?> of, List<String> methods) {
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(of))
                .filters(EngineFilter.excludeEngines("junit-vintage"))
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "false");
        if (methods == null) {
            return request.build();
        }
        try {
            Class.forName("tamis.GivenOrder").getMethod("give", List.class).invoke(null, methods);
            request.configurationParameter(
                    "junit.jupiter.testmethod.order.default", "tamis.GivenOrder");
        } catch (ReflectiveOperationException error) {
            // Before JUnit 5.4 nothing orders methods: they run in parts.
        }
        PostDiscoveryFilter wanted = test -> {
            String name = nameOf(test.getUniqueId(), of.getName());
            return FilterResult.includedIf(
                    name == null ? isAround(test.getUniqueId(), of.getName()) : methods.contains(name));
        };
        return request.filters(wanted).build();
    }

    /** The names of methods of a class below identifiers, in the order in which they run. */
    private static Set<String> names(
            TestPlan plan, Set<TestIdentifier> below, String of, Set<String> names) {
        for (TestIdentifier one : below) {
            String name = nameOf(UniqueId.parse(one.getUniqueId()), of);
            if (name == null) {
                names(plan, plan.getChildren(one), of, names);
            } else {
                names.add(name);
            }
        }
        return names;
    }

    /** The name of the method that an identifier is about; {@code null} if there is none. */
    private static String nameOf(UniqueId id, String of) {
        StringBuilder inside = new StringBuilder();
        for (UniqueId.Segment segment : id.getSegments()) {
            String value = segment.getValue();
            switch (segment.getType()) {
                case "class":
                    inside.append(value);
                    break;
                case "nested-class":
                    inside.append('$').append(value);
                    break;
                case "method":
                case "test-template":
                case "test-factory":
                    int end = value.indexOf('(');
                    boolean isOurs = inside.toString().equals(of);
                    return isOurs ? (end < 0 ? value : value.substring(0, end)) : null;
                default:
            }
        }
        return null;
    }

    /** Whether an identifier is a class, or one around it. */
    private static boolean isAround(UniqueId id, String of) {
        StringBuilder inside = new StringBuilder();
        for (UniqueId.Segment segment : id.getSegments()) {
            switch (segment.getType()) {
                case "class":
                    inside.append(segment.getValue());
                    break;
                case "nested-class":
                    inside.append('$').append(segment.getValue());
                    break;
                case "engine":
                    break;
                default:
                    return false;
            }
        }
        return of.equals(inside.toString()) || of.startsWith(inside + "$");
    }

    private static final class Listener implements TestExecutionListener {
        private final String of;
        private final Outcomes outcomes;

        Listener(String of, Outcomes outcomes) {
            this.of = of;
            this.outcomes = outcomes;
        }

        private String nameOf(TestIdentifier one) {
            return Platform.nameOf(UniqueId.parse(one.getUniqueId()), of);
        }

        @Override
        public void executionStarted(TestIdentifier one) {
            String name = nameOf(one);
            if (name != null) {
                outcomes.begin(name);
            }
        }

        @Override
        public void executionSkipped(TestIdentifier one, String why) {
            String name = nameOf(one);
            if (name != null) {
                outcomes.skip(name, why);
            }
        }

        @Override
        public void executionFinished(TestIdentifier one, TestExecutionResult result) {
            String name = nameOf(one);
            Optional<Throwable> why = result.getThrowable();
            switch (result.getStatus()) {
                case SUCCESSFUL:
                    break;
                case ABORTED:
                    if (name != null) {
                        outcomes.skip(name, why.map(String::valueOf).orElse(null));
                    }
                    break;
                default:
                    Throwable thrown = why.orElse(null);
                    if (name == null) {
                        outcomes.failAll(thrown);
                    } else {
                        outcomes.fail(name, thrown);
                    }
            }
            if (name != null) {
                outcomes.finish(name);
            }
        }
    }
}
