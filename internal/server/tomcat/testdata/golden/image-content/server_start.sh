set -eu
for application in /usr/local/tomcat/webapps/*; do
  if [ -e "$application" ]; then cp -RL "$application" /assay/tomcat/webapps/; fi
done
if ! [ -e /assay/tomcat/webapps/ROOT.war ]; then mkdir -p /assay/tomcat/webapps/ROOT; fi
exec /usr/local/tomcat/bin/catalina.sh run
