package tamis;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Bootstrap;
import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.ListeningConnector;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.ModificationWatchpointEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.event.WatchpointEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.WatchpointRequest;
import java.io.File;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Runs a JVM that runs one order, and watches as a debugger which lines read and write fields of
 * the project's classes. At its end it writes what the last test of the order reads that the
 * others wrote.
 */
public final class Why {
    /** A field that is used more often is no longer watched: each use stops its thread. */
    private static final int MOST_USES = 5_000;

    /** Frames of a stack, and state that is told of. */
    private static final int MOST_FRAMES = 40;
    private static final int MOST_WRITES = 5;

    private static final int LONGEST = 80;

    /** Types whose values never change. */
    private static final Set<String> FIXED = new HashSet<>(Arrays.asList(
            "boolean", "byte", "char", "short", "int", "long", "float", "double",
            "java.lang.String", "java.lang.Boolean", "java.lang.Integer", "java.lang.Long",
            "java.lang.Double", "java.lang.Class"));

    private final Set<String> classes = new HashSet<>();
    private final String last;
    private final Map<Field, Integer> uses = new HashMap<>();
    /** The last use of each piece of state: by the last test, and by the others. */
    private final Map<String, Use> reads = new LinkedHashMap<>();
    private final Map<String, Use> writes = new LinkedHashMap<>();
    private final Map<String, Use> touches = new LinkedHashMap<>();
    private String running;

    private static final class Use {
        String test;
        String before;
        String after;
        List<String> stack;
    }

    private Why(String folders, String last) {
        this.last = last;
        for (String folder : folders.split(File.pathSeparator)) {
            collect(new File(folder), "");
        }
    }

    /** Where to write, folders of classes, the last test, then the words that start the JVM. */
    public static void main(String[] args) throws Exception {
        Why why = new Why(args[1], args[2]);
        ListeningConnector connector = null;
        for (ListeningConnector one : Bootstrap.virtualMachineManager().listeningConnectors()) {
            if (one.name().equals("com.sun.jdi.SocketListen")) {
                connector = one;
            }
        }
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        arguments.get("localAddress").setValue("127.0.0.1");
        String address = connector.startListening(arguments);
        String port = address.substring(address.lastIndexOf(':') + 1);
        List<String> words = new ArrayList<>(Arrays.asList(args).subList(3, args.length));
        words.add(1, "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1:" + port);
        Process process = new ProcessBuilder(words).inheritIO().start();
        VirtualMachine machine = connector.accept(arguments);
        try {
            why.watch(machine);
        } catch (VMDisconnectedException error) {
            // It has ended.
        }
        try (PrintStream out = new PrintStream(new File(args[0]), "UTF-8")) {
            out.print(why.cause());
        }
        System.exit(process.waitFor());
    }

    private void collect(File folder, String inside) {
        File[] files = folder.listFiles();
        for (File file : files == null ? new File[0] : files) {
            if (file.isDirectory()) {
                collect(file, inside + file.getName() + ".");
            } else if (file.getName().endsWith(".class")) {
                String name = file.getName();
                classes.add(inside + name.substring(0, name.length() - ".class".length()));
            }
        }
    }

    private void watch(VirtualMachine machine) throws InterruptedException {
        EventRequestManager requests = machine.eventRequestManager();
        for (String pattern : patterns()) {
            com.sun.jdi.request.ClassPrepareRequest request = requests.createClassPrepareRequest();
            request.addClassFilter(pattern);
            request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
            request.enable();
        }
        machine.resume();
        while (true) {
            EventSet events = machine.eventQueue().remove();
            for (Event event : events) {
                if (event instanceof VMDeathEvent || event instanceof VMDisconnectEvent) {
                    return;
                }
                if (event instanceof ClassPrepareEvent) {
                    prepare(requests, ((ClassPrepareEvent) event).referenceType());
                } else if (event instanceof WatchpointEvent) {
                    use((WatchpointEvent) event);
                }
            }
            events.resume();
        }
    }

    /** The packages of the project, and where it is told which test runs. */
    private Set<String> patterns() {
        Set<String> patterns = new HashSet<>(Arrays.asList("tamis.Outcomes"));
        for (String name : classes) {
            int dot = name.lastIndexOf('.');
            patterns.add(dot < 0 ? name : name.substring(0, dot) + ".*");
        }
        return patterns;
    }

    private void prepare(EventRequestManager requests, ReferenceType type) {
        boolean isOurs = type.name().equals("tamis.Outcomes");
        if (!isOurs && !classes.contains(type.name())) {
            return;
        }
        for (Field field : type.fields()) {
            boolean isConstant = field.isFinal() && FIXED.contains(field.typeName());
            if (isOurs != field.name().equals("current") || field.isSynthetic() || isConstant) {
                continue;
            }
            watch(requests.createModificationWatchpointRequest(field));
            if (!isOurs) {
                watch(requests.createAccessWatchpointRequest(field));
            }
        }
    }

    private static void watch(WatchpointRequest request) {
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
    }

    private void use(WatchpointEvent event) {
        Field field = event.field();
        boolean isWrite = event instanceof ModificationWatchpointEvent;
        if (field.declaringType().name().equals("tamis.Outcomes")) {
            Value test = ((ModificationWatchpointEvent) event).valueToBe();
            running = test == null ? null : ((StringReference) test).value();
            return;
        }
        if (uses.merge(field, 1, Integer::sum) > MOST_USES) {
            event.request().disable();
            return;
        }
        // What a class sets up for itself is the same whoever uses it first.
        if (running == null || event.location().method().isStaticInitializer()) {
            return;
        }
        ObjectReference object = event.object();
        String key = field.declaringType().name() + "." + field.name()
                + (object == null ? "" : "@" + object.uniqueID());
        Use use = new Use();
        use.test = running;
        use.stack = stack(event);
        if (isWrite) {
            use.before = shown(event.valueCurrent());
            use.after = shown(((ModificationWatchpointEvent) event).valueToBe());
        }
        if (running.equals(last)) {
            // What it wrote itself before is not what others left.
            if (isWrite) {
                writes.remove(key);
                touches.remove(key);
            } else if (writes.containsKey(key) || touches.containsKey(key)) {
                reads.put(key, use);
            }
        } else if (isWrite) {
            writes.put(key, use);
        } else if (!FIXED.contains(field.typeName())) {
            use.before = use.after = field.typeName();
            touches.put(key, use);
        }
    }

    private List<String> stack(WatchpointEvent event) {
        List<String> stack = new ArrayList<>();
        try {
            for (StackFrame frame : event.thread().frames()) {
                Location at = frame.location();
                if (classes.contains(at.declaringType().name()) && stack.size() < MOST_FRAMES) {
                    stack.add(place(at));
                }
            }
        } catch (IncompatibleThreadStateException error) {
            stack.add(place(event.location()));
        }
        return stack;
    }

    private static String place(Location at) {
        Map<String, String> fields = new TreeMap<>();
        try {
            fields.put("file", Json.text(at.sourcePath()));
        } catch (AbsentInformationException error) {
            fields.put("file", Json.text(at.declaringType().name()));
        }
        fields.put("line", String.valueOf(Math.max(0, at.lineNumber())));
        fields.put("function", Json.text(at.method().name()));
        return Json.object(fields);
    }

    /** Without running code of the program. */
    private static String shown(Value value) {
        String text;
        if (value == null) {
            text = "null";
        } else if (value instanceof PrimitiveValue) {
            text = value.toString();
        } else if (value instanceof StringReference) {
            text = "\"" + ((StringReference) value).value() + "\"";
        } else {
            text = "a " + value.type().name();
        }
        return text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text;
    }

    private String cause() {
        Map<String, Use> by = writes;
        boolean isWritten = false;
        for (String key : reads.keySet()) {
            isWritten |= writes.containsKey(key);
        }
        if (!isWritten) {
            // Nobody sets such a field: what it leads to is changed.
            by = touches;
        }
        String read = "null";
        List<String> told = new ArrayList<>();
        for (Map.Entry<String, Use> entry : reads.entrySet()) {
            Use write = by.get(entry.getKey());
            if (write == null || write.stack.isEmpty() || entry.getValue().stack.isEmpty()) {
                continue;
            }
            read = entry.getValue().stack.get(0);
            Map<String, String> fields = new TreeMap<>();
            fields.put("cell", Json.text(entry.getKey().replaceAll("@.*", "")));
            fields.put("test", Json.text(write.test));
            fields.put("before", Json.text(write.before));
            fields.put("after", Json.text(write.after));
            fields.put("stack", "[" + String.join(",", write.stack) + "]");
            told.add(Json.object(fields));
        }
        List<String> some = told.subList(Math.max(0, told.size() - MOST_WRITES), told.size());
        Map<String, String> cause = new TreeMap<>();
        cause.put("read", read);
        cause.put("writes", "[" + String.join(",", some) + "]");
        return Json.object(cause);
    }
}
