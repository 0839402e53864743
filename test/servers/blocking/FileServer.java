import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Serves the files of a directory with blocking I/O on a single thread: it accepts a connection, reads one request,
 * answers it, closes the connection, and only then accepts the next one.
 *
 * <p>Environment variables: PORT (8080), FOLDER (/www), BACKLOG (0: Java's default, 50).
 */
public final class FileServer {
    /** How long a client may take to send its request. Until then nobody else is served. */
    private static final int READ_TIMEOUT_MILLIS = 5000;

    private FileServer() {}

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(variable("PORT", "8080"));
        int backlog = Integer.parseInt(variable("BACKLOG", "0"));
        Path directory = Path.of(variable("FOLDER", "/www")).toAbsolutePath().normalize();

        try (ServerSocket listener = new ServerSocket(port, backlog)) {
            System.out.printf("blocking server on Java %s listens on port %d with one thread, serving %s%n",
                    Runtime.version(), port, directory);
            while (true) {
                try (Socket connection = listener.accept()) {
                    connection.setSoTimeout(READ_TIMEOUT_MILLIS);
                    serve(connection, directory);
                } catch (IOException e) {
                    System.err.println("Connection failed: " + e);
                }
            }
        }
    }

    private static void serve(Socket connection, Path directory) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.ISO_8859_1));
        String requestLine = in.readLine();
        if (requestLine == null) {
            return;
        }
        for (String header = in.readLine(); header != null && !header.isEmpty(); header = in.readLine()) {
            // Headers don't matter here, but the whole request has to be read before the connection is closed.
        }
        String[] parts = requestLine.split(" ");
        boolean head = parts[0].equals("HEAD");
        OutputStream out = new BufferedOutputStream(connection.getOutputStream());
        if (parts.length != 3 || !(head || parts[0].equals("GET"))) {
            respond(out, "405 Method Not Allowed", new byte[0], head);
            return;
        }
        // The name can't lead out of the directory.
        Path file = directory.resolve("." + parts[1].replaceFirst("\\?.*", "")).normalize();
        if (!file.startsWith(directory) || !Files.isRegularFile(file)) {
            respond(out, "404 Not Found", new byte[0], head);
            return;
        }
        respond(out, "200 OK", Files.readAllBytes(file), head);
    }

    private static void respond(OutputStream out, String status, byte[] body, boolean head) throws IOException {
        String fields = "HTTP/1.1 " + status + "\r\nContent-Type: application/octet-stream\r\nContent-Length: " + body.length
                + "\r\nConnection: close\r\n\r\n";
        out.write(fields.getBytes(StandardCharsets.ISO_8859_1));
        if (!head) {
            out.write(body);
        }
        out.flush();
    }

    private static String variable(String name, String otherwise) {
        return Objects.requireNonNullElse(System.getenv(name), otherwise);
    }
}
