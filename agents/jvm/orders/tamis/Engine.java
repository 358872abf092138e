package tamis;

import java.util.List;
import java.util.Set;

/** A test framework. */
interface Engine {
    /**
     * The methods of a class that it runs, in their own order: none if the class is not its,
     * {@code ""} alone if it runs only as a whole.
     */
    List<String> methods(Class<?> of) throws Exception;

    /** The classes whose tests a class runs: a suite has others. */
    Set<String> classes(Class<?> of) throws Exception;

    /** Runs methods of a class in this order; all of the class if there is only {@code ""}. */
    void run(Class<?> of, List<String> methods, Outcomes outcomes) throws Exception;
}
