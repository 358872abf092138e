package tamis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import junit.framework.AssertionFailedError;
import junit.framework.Test;
import junit.framework.TestCase;
import junit.framework.TestListener;
import junit.framework.TestResult;
import junit.framework.TestSuite;

/** JUnit before version 4. */
final class JUnit3 implements Engine {
    @Override
    public List<String> methods(Class<?> of) {
        if (hasSuite(of)) {
            return Collections.singletonList("");
        }
        return new ArrayList<>(tests(of).keySet());
    }

    private static boolean hasSuite(Class<?> of) {
        try {
            of.getMethod("suite");
            return true;
        } catch (NoSuchMethodException error) {
            return false;
        }
    }

    private static Map<String, Test> tests(Class<?> of) {
        if (!TestCase.class.isAssignableFrom(of)) {
            return Collections.emptyMap();
        }
        Map<String, Test> tests = new LinkedHashMap<>();
        TestSuite suite = new TestSuite(of.asSubclass(TestCase.class));
        for (int at = 0; at < suite.testCount(); at++) {
            Test test = suite.testAt(at);
            // What cannot be run is told by a test of this name.
            if (test instanceof TestCase && !"warning".equals(((TestCase) test).getName())) {
                tests.put(((TestCase) test).getName(), test);
            }
        }
        return tests;
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
        Map<String, Test> tests = tests(of);
        for (String method : methods) {
            tests.get(method).run(result);
        }
    }
}
