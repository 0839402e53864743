import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Executors;

/**
 * Serves the files of a folder with the HTTP server that the JDK has, to benchmark that server: it adds as little as
 * possible to it.
 *
 * <p>Set by environment variables: PORT (8080), FOLDER (/www), THREADS (how many handle requests; 0, the default, is the
 * JDK's own default: the thread that accepts connections does everything), BACKLOG (0: the JDK's own). The server's
 * own system properties are set by JDK_JAVA_OPTIONS, such as -Dsun.net.httpserver.nodelay=true.
 */
public final class FileServer {
    private final Path folder;

    private FileServer(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(variable("PORT", "8080"));
        int threads = Integer.parseInt(variable("THREADS", "0"));
        int backlog = Integer.parseInt(variable("BACKLOG", "0"));
        Path folder = Path.of(variable("FOLDER", "/www")).toAbsolutePath().normalize();

        HttpServer server = HttpServer.create(new InetSocketAddress(port), backlog);
        server.createContext("/", new FileServer(folder)::handle);
        if (threads > 0) {
            server.setExecutor(Executors.newFixedThreadPool(threads));
        }
        server.start();
        System.out.printf("jdk.httpserver of Java %s listens on port %d with %s, serving %s%n",
                Runtime.version(), port, threads > 0 ? threads + " threads" : "the JDK's own executor", folder);
    }

    private static String variable(String name, String otherwise) {
        return Objects.requireNonNullElse(System.getenv(name), otherwise);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            boolean head = exchange.getRequestMethod().equals("HEAD");
            if (!head && !exchange.getRequestMethod().equals("GET")) {
                exchange.sendResponseHeaders(405, -1);
                return;
            }
            // The name is decoded and can't lead out of the folder.
            Path file = folder.resolve("." + exchange.getRequestURI().getPath()).normalize();
            if (!file.startsWith(folder) || !Files.isRegularFile(file)) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            String type = URLConnection.guessContentTypeFromName(file.getFileName().toString());
            exchange.getResponseHeaders().set("Content-Type", Objects.requireNonNullElse(type, "application/octet-stream"));
            long size = Files.size(file);
            if (head || size == 0) {
                // Here -1 says that there is no body; 0 would mean a chunked one.
                exchange.getResponseHeaders().set("Content-Length", Long.toString(size));
                exchange.sendResponseHeaders(200, -1);
                return;
            }
            exchange.sendResponseHeaders(200, size);
            try (InputStream in = Files.newInputStream(file)) {
                in.transferTo(exchange.getResponseBody());
            }
        }
    }
}
