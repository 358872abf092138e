package org.apache.maven.surefire.junit4;

import java.lang.reflect.*;
import java.util.*;

public class JUnit4Provider {
    public void executeTestSet(Class<?> test) throws Exception {
        Method[] all = test.getDeclaredMethods();
        Arrays.sort(all, Comparator.comparing(Method::getName));
        for (Method method : all) {
            if (method.getName().startsWith("test")) {
                Constructor<?> maker = test.getDeclaredConstructor();
                method.setAccessible(true);
                maker.setAccessible(true);
                Object result;
                try {
                    result = method.invoke(maker.newInstance());
                } catch (InvocationTargetException thrown) {
                    result = thrown.getCause();
                }
                System.out.println(test.getName() + "\t" + result);
            }
        }
    }
}
