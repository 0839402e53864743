package ab

// Usage is the help text that -h prints.
const Usage = `Usage: assay-load ab [options] [http[s]://]hostname[:port]/path
The options have the same meaning as in ab:
    -n requests     Number of requests to perform, default 1
    -c concurrency  Number of connections at a time, default 1
    -t timelimit    Maximum duration in seconds; implies -n 50000, unless -n follows
    -s timeout      Maximum seconds to wait for each response, default 30
    -k              Use keep-alive
    -l              Accept variable document length
    -r              Don't exit on receive errors
    -q              Do not show progress when doing more than 150 requests
    -v verbosity    0, 1 or 2; with 2, print warnings about the result
    -d              Do not show percentiles
    -S              Do not show confidence estimators
    -e filename     Output CSV file with percentages served
    -H header       Add header, for example 'Accept: text/html' (repeatable)
    -C cookie       Add cookie, for example 'name=value'; a later -C replaces it
    -A credentials  Add basic authentication, as user:password
    -m method       Method: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS
    -i              Use HEAD
    -p postfile     File with data to POST
    -u putfile      File with data to PUT
    -T content-type Content type of the data, default text/plain
    -f protocol     TLS1, TLS1.1, TLS1.2, TLS1.3 or ALL
    -Z ciphersuites OpenSSL names of cipher suites, separated by colons
    -E certfile     Client certificate chain and private key, in PEM
    -V              Print version number and exit
    -h              Display this help
Not supported, the error says why: -b -B -g -w -x -y -z -X -P -I

Differences from ab: it speaks HTTP/1.1, sends the request once before the load
starts, and counts a response that times out as failed instead of exiting.

Exit codes:
    0    completed
    1    failed: the target can't be reached, or another error
    22   invalid options
    104  aborted, as ab does, after a receive error without -r
    111  aborted, as ab does, after more than 10 connect failures
    130  interrupted
`

// Banner is the format of the banner. Its argument is the version.
const Banner = `This is assay-load ab, Version %s, with the options and the report of
ApacheBench (https://httpd.apache.org/docs/2.4/programs/ab.html)

`
