set -eu
for application in /usr/local/tomcat/webapps/*; do
  if [ -e "$application" ]; then cp -RL "$application" /assay/tomcat/webapps/; fi
done
exec /usr/local/tomcat/bin/catalina.sh run
