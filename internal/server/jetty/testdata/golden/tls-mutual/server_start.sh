set -eu
java=${JRE_HOME:-${JAVA_HOME:-}}
if [ -n "$java" ]; then keytool=$java/bin/keytool; else keytool=keytool; fi
number=0
certificate=
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
  *"BEGIN CERTIFICATE"*) certificate=$line ;;
  *"END CERTIFICATE"*)
    number=$((number + 1))
    printf '%s\n%s\n' "$certificate" "$line" |
      "$keytool" -importcert -noprompt -alias "authority-$number" -keystore /var/lib/jetty/work/client-ca.p12 -storetype PKCS12 -storepass changeit
    certificate=
    ;;
  *) certificate="$certificate
$line" ;;
  esac
done </assay/tls/client-ca.crt
exec "$@"
