package tamis;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import junit.extensions.TestDecorator;
import junit.framework.AssertionFailedError;
import junit.framework.Test;
import junit.framework.TestCase;
import junit.framework.TestListener;
import junit.framework.TestResult;
import junit.framework.TestSuite;

/** JUnit before version 4. */
final class JUnit3 implements Engine {
    @Override
    public List<String> methods(Class<?> of) throws Exception {
        List<TestCase> tests = tests(of);
        Set<String> names = new LinkedHashSet<>();
        for (TestCase test : tests) {
            if (test.getClass() != of || test.getName() == null) {
                return Collections.singletonList("");
            }
            names.add(test.getName());
        }
        return new ArrayList<>(names);
    }

    @Override
    public Set<String> classes(Class<?> of) throws Exception {
        Set<String> classes = new LinkedHashSet<>();
        for (TestCase test : tests(of)) {
            classes.add(test.getClass().getName());
        }
        return classes;
    }

    /** The tests of a class: of its suite if it has one. */
    private static List<TestCase> tests(Class<?> of) throws Exception {
        List<TestCase> tests = new ArrayList<>();
        try {
            collect((Test) of.getMethod("suite").invoke(null), tests);
        } catch (NoSuchMethodException error) {
            if (TestCase.class.isAssignableFrom(of) && !Modifier.isAbstract(of.getModifiers())) {
                collect(new TestSuite(of.asSubclass(TestCase.class)), tests);
            }
        }
        return tests;
    }

    private static void collect(Test from, List<TestCase> tests) {
        if (from instanceof TestCase && !"warning".equals(((TestCase) from).getName())) {
            tests.add((TestCase) from);
        } else if (from instanceof TestDecorator) {
            collect(((TestDecorator) from).getTest(), tests);
        } else if (from instanceof TestSuite) {
            for (int at = 0; at < ((TestSuite) from).testCount(); at++) {
                collect(((TestSuite) from).testAt(at), tests);
            }
        }
    }

    @Override
    public void run(Class<?> of, List<String> methods, Outcomes outcomes) throws Exception {
        TestResult result = new TestResult();
        boolean isWhole = methods.contains("");
        result.addListener(new TestListener() {
            private String name(Test test) {
                return isWhole || !(test instanceof TestCase) ? "" : ((TestCase) test).getName();
            }

            @Override
            public void startTest(Test test) {
                outcomes.begin(name(test));
            }

            @Override
            public void endTest(Test test) {
                outcomes.finish(name(test));
            }

            @Override
            public void addError(Test test, Throwable why) {
                outcomes.fail(name(test), why);
            }

            @Override
            public void addFailure(Test test, AssertionFailedError why) {
                outcomes.fail(name(test), why);
            }
        });
        if (isWhole) {
            ((Test) of.getMethod("suite").invoke(null)).run(result);
            return;
        }
        List<TestCase> tests = tests(of);
        for (String method : methods) {
            for (TestCase test : tests) {
                if (test.getName().equals(method)) {
                    test.run(result);
                }
            }
        }
    }
}
