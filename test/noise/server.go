package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/assay-dev/assay/test/harness"
)

// kind is a kind of server.
type kind struct {
	name, title string
	warmup      time.Duration
	// paths are those of both servers of a pair. planted reports whether the second is slower by what is known.
	paths   [2]string
	planted bool
	// command and files start it in the directory DIR, with the file 1k, to listen on HOST:PORT.
	command string
	files   map[string]string
}

const java = " -Xms256m -Xmx256m -Dcatalina.home=/usr/share/tomcat10 -Dcatalina.base=DIR -Djava.io.tmpdir=DIR " +
	"-Djava.util.logging.config.file=/dev/null -cp /usr/share/tomcat10/bin/bootstrap.jar:/usr/share/tomcat10/bin/tomcat-juli.jar " +
	"org.apache.catalina.startup.Bootstrap start"

const ours = "BIN/server -listen HOST:PORT"

var (
	file   = [2]string{"/1k", "/1k"}
	tomcat = map[string]string{
		"conf/server.xml": `<Server port="-1"><Service name="Catalina"><Connector address="HOST" port="PORT" maxKeepAliveRequests="-1"/>
<Engine name="Catalina" defaultHost="localhost"><Host name="localhost"><Context path="" docBase="DIR"/></Host></Engine></Service></Server>`,
		"WEB-INF/web.xml": `<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
<servlet><servlet-name>default</servlet-name><servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class></servlet>
<servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping></web-app>`,
	}
	kinds = []kind{
		{"nginx", "nginx", time.Second / 2, file, false, "nginx -p DIR -c DIR/nginx.conf", map[string]string{"nginx.conf": `
daemon off; master_process off; pid DIR/pid; error_log DIR/error.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; open_file_cache max=100; sendfile on;
  client_body_temp_path DIR; proxy_temp_path DIR; fastcgi_temp_path DIR; uwsgi_temp_path DIR; scgi_temp_path DIR;
  server { listen HOST:PORT; root DIR; }
}`}},
		{"tomcat", "Tomcat", 20 * time.Second, file, false, "java" + java, tomcat},
		{"tomcat-c1", "Tomcat, first compiler", 3 * time.Second, file, false, "java -XX:TieredStopAtLevel=1" + java, tomcat},
		{"httpd", "httpd", time.Second / 2, file, false, "apache2 -DFOREGROUND -f DIR/httpd.conf", map[string]string{"httpd.conf": `
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
ServerRoot DIR
DefaultRuntimeDir DIR
PidFile DIR/pid
ErrorLog DIR/error.log
ServerName localhost
Listen HOST:PORT
User www-data
Group www-data
ServerLimit 1
StartServers 1
ThreadsPerChild 64
MaxRequestWorkers 64
MaxKeepAliveRequests 0
DocumentRoot DIR`}},
		{"time", "5% more time", time.Second / 2, [2]string{"/queue/4/1000/1024", "/queue/4/1050/1024"}, true, ours, nil},
		{"work", "5% more work", time.Second / 2, [2]string{"/work/2000/1024", "/work/2100/1024"}, true, ours, nil},
	}
)

// server is a running server, and the path that is requested of it.
type server struct {
	*harness.Child
	address, path string
}

// start starts the server of that number and warms it up.
func (s *settings) start(ctx context.Context, k *kind, number int) (*server, error) {
	addresses, err := harness.FreeAddresses(1)
	if err != nil {
		return nil, err
	}
	address := addresses[0]
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	directory := filepath.Join(s.directory, k.name+strconv.Itoa(number))
	host, port, _ := strings.Cut(address, ":")
	replacer := strings.NewReplacer("DIR", directory, "HOST", host, "PORT", port, "BIN", filepath.Dir(program))
	write := func(name, content string) {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644))
	}
	write(filepath.Join(directory, "1k"), strings.Repeat("x", bytes))
	for name, content := range k.files {
		write(filepath.Join(directory, name), replacer.Replace(content))
	}
	if err != nil {
		return nil, err
	}
	words := strings.Fields(replacer.Replace(k.command))
	started := &server{address: address, path: k.paths[number%2]}
	if started.Child, err = harness.Serve(ctx, strconv.Itoa(s.serverCPU), address, words[0], words[1:]...); err != nil {
		return nil, err
	}
	if _, _, err = drive(ctx, started, k.warmup/s.divisor); err != nil {
		started.Stop()
		return nil, err
	}
	return started, nil
}
