package tamis;

import java.util.Collection;
import java.util.Map;

/** Writes JSON. */
final class Json {
    private Json() {}

    static String list(Collection<String> texts) {
        StringBuilder all = new StringBuilder("[");
        for (String text : texts) {
            all.append(all.length() == 1 ? "" : ",").append(text(text));
        }
        return all.append("]").toString();
    }

    static String map(Map<String, String> texts) {
        StringBuilder all = new StringBuilder("{");
        for (Map.Entry<String, String> entry : texts.entrySet()) {
            all.append(all.length() == 1 ? "" : ",").append(text(entry.getKey()));
            all.append(":").append(text(entry.getValue()));
        }
        return all.append("}").toString();
    }

    /** Of fields whose values are JSON already. */
    static String object(Map<String, String> fields) {
        StringBuilder all = new StringBuilder("{");
        for (Map.Entry<String, String> entry : fields.entrySet()) {
            all.append(all.length() == 1 ? "" : ",").append(text(entry.getKey()));
            all.append(":").append(entry.getValue());
        }
        return all.append("}").toString();
    }

    static String text(String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            // A half of a pair that stands alone is no text for others.
            if (c < ' ' || c == '"' || c == '\\' || c > '~') {
                quoted.append(String.format("\\u%04x", Character.isSurrogate(c) ? '?' : (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
