/*
 * A module of Apache httpd that generates pages in the server's own process: what the
 * benchmark reports call a native plug-in. It is written to httpd's module API
 * (https://httpd.apache.org/docs/2.4/developer/modguide.html).
 *
 *   LoadModule native_module modules/mod_native.so
 *   <Location "/native">
 *       SetHandler native
 *   </Location>
 *
 * GET and HEAD with the query rows=N get the same table as test/servers/dynamic/page.jsp:
 * 185 bytes, the digits of N, and 70 bytes for each of the N rows, 20 by default and 20000
 * at most. POST reads the body and answers with its length, as in "512 bytes".
 */
#include <stdlib.h>
#include <string.h>

#include "httpd.h" /* the others need it */

#include "http_config.h"
#include "http_core.h"
#include "http_protocol.h"
#include "util_script.h"

enum { DEFAULT_ROWS = 20, MAX_ROWS = 20000, HASH_ROUNDS = 100 };

/* Returns the number of rows that the query asks for, or -1 if it must not. */
static long rows_of(request_rec *r)
{
    apr_table_t *fields;
    const char *text;
    char *end;
    long rows;

    ap_args_to_table(r, &fields);
    text = apr_table_get(fields, "rows");
    if (text == NULL) {
        return DEFAULT_ROWS;
    }
    rows = strtol(text, &end, 10);
    if (end == text || *end != '\0' || rows < 0 || rows > MAX_ROWS) {
        return -1;
    }
    return rows;
}

static int send_table(request_rec *r)
{
    long rows = rows_of(r), i;

    if (rows < 0) {
        return HTTP_BAD_REQUEST;
    }
    ap_set_content_type(r, "text/html; charset=UTF-8");
    ap_rprintf(r,
               "<!DOCTYPE html>\n<html>\n<head><title>A table</title></head>\n<body>\n<h1>%ld rows</h1>\n<table>\n"
               "<tr><th>number</th><th>square</th><th>remainder</th><th>hash</th></tr>\n",
               rows);
    for (i = 1; i <= rows; i++) {
        /* The same work for each row as the page does. Java's int is 32 bits and wraps. */
        apr_uint32_t hash = (apr_uint32_t)i;
        int round;
        for (round = 0; round < HASH_ROUNDS; round++) {
            hash = hash * 31 + (hash >> 7);
        }
        ap_rprintf(r, "<tr><td>%05ld</td><td>%09ld</td><td>%02ld</td><td>%08x</td></tr>\n", i, i * i, i % 97, hash);
    }
    ap_rputs("</table>\n</body>\n</html>\n", r);
    return OK;
}

static int count_body(request_rec *r)
{
    char buffer[8192];
    apr_off_t bytes = 0;
    long n;
    int status = ap_setup_client_block(r, REQUEST_CHUNKED_DECHUNK);

    if (status != OK) {
        return status;
    }
    if (ap_should_client_block(r)) {
        while ((n = ap_get_client_block(r, buffer, sizeof(buffer))) > 0) {
            bytes += n;
        }
        if (n < 0) {
            return HTTP_BAD_REQUEST;
        }
    }
    ap_set_content_type(r, "text/plain; charset=UTF-8");
    ap_rprintf(r, "%" APR_OFF_T_FMT " bytes\n", bytes);
    return OK;
}

static int native_handler(request_rec *r)
{
    if (r->handler == NULL || strcmp(r->handler, "native") != 0) {
        return DECLINED;
    }
    r->allowed |= (AP_METHOD_BIT << M_GET) | (AP_METHOD_BIT << M_POST);
    switch (r->method_number) {
    case M_GET: /* and HEAD, of which httpd sends no body */
        return send_table(r);
    case M_POST:
        return count_body(r);
    }
    return HTTP_METHOD_NOT_ALLOWED;
}

static void register_hooks(apr_pool_t *pool)
{
    (void)pool;
    ap_hook_handler(native_handler, NULL, NULL, APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(native) = {STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks};
