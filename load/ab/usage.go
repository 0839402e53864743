package ab

// Usage is what -h prints.
const Usage = `Usage: assay-load ab [options] [http[s]://]hostname[:port]/path
Options are ab's, with ab's meanings:
    -n requests     Number of requests to perform, default 1
    -c concurrency  Number of connections at a time, default 1
    -t timelimit    Seconds to spend at most; implies -n 50000, unless -n follows
    -s timeout      Seconds to wait at most for each response, default 30
    -k              Use keep-alive
    -l              Accept variable document length
    -r              Don't exit on receive errors
    -q              Do not show progress when doing more than 150 requests
    -v verbosity    From 2 on print warnings about the result
    -d              Do not show percentiles
    -S              Do not show confidence estimators
    -e filename     Output CSV file with percentages served
    -H attribute    Add header line, as in 'Host: www.example.org' (repeatable)
    -C attribute    Add cookie, as in 'name=value'; the last one counts
    -A attribute    Add basic authentication, as in user:password
    -m method       Method: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS
    -i              Use HEAD
    -p postfile     File with data to POST
    -u putfile      File with data to PUT
    -T content-type Content type of the data, default text/plain
    -f protocol     TLS1, TLS1.1, TLS1.2, TLS1.3 or ALL
    -Z ciphersuite  Cipher suites by OpenSSL's names, with colons between them
    -E certfile     Client certificate chain and private key, in PEM
    -w              Print the report as a table in HTML
    -x, -y, -z      Attributes of its table, rows and cells; imply -w
    -V              Print version number and exit
    -h              Display this
Refused, each with its reason: -b -B -g -X -P -I

Unlike ab it speaks HTTP/1.1, makes the request once before it begins, and counts
a response that takes too long as failed instead of exiting.
Exit codes: 0 done, 22 the command is wrong, 104 and 111 given up as ab does after
a receive error or 10 failures to connect, 130 interrupted, 1 anything else.
`

// Banner is printed before anything else.
const Banner = `This is assay-load ab, Version %s, with the options and the report of
ApacheBench (https://httpd.apache.org/docs/2.4/programs/ab.html)

`
