import fi.iki.elonen.NanoHTTPD;
import fi.iki.elonen.SimpleWebServer;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.Properties;

/**
 * Starts NanoHTTPD's own file server. Its own main ends as soon as standard input does, which in a container is at
 * once.
 *
 * <p>Set by environment variables: PORT (8080), FOLDER (/www), BACKLOG (50, NanoHTTPD's own, which has no setting: the
 * length of the queue of connections that wait to be accepted). There is a thread for each connection.
 */
public final class FileServer {
    private FileServer() {}

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(variable("PORT", "8080"));
        int backlog = Integer.parseInt(variable("BACKLOG", "50"));
        File folder = new File(variable("FOLDER", "/www"));

        // Quiet: no line for each request.
        NanoHTTPD server = new SimpleWebServer(null, port, folder, true);
        server.setServerSocketFactory(() -> new ServerSocket() {
            @Override
            public void bind(SocketAddress endpoint) throws IOException {
                super.bind(endpoint, backlog);
            }
        });
        server.start(NanoHTTPD.SOCKET_READ_TIMEOUT, false);
        System.out.printf("NanoHTTPD %s on Java %s listens on port %d, serving %s%n", version(), Runtime.version(), port, folder);
    }

    private static String version() throws IOException {
        Properties properties = new Properties();
        try (InputStream in = NanoHTTPD.class.getResourceAsStream("/META-INF/maven/org.nanohttpd/nanohttpd/pom.properties")) {
            properties.load(Objects.requireNonNull(in));
        }
        return properties.getProperty("version");
    }

    private static String variable(String name, String otherwise) {
        return Objects.requireNonNullElse(System.getenv(name), otherwise);
    }
}
