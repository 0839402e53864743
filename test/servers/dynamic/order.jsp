<%@ page contentType="text/plain; charset=UTF-8" session="false" trimDirectiveWhitespaces="true" import="java.util.Map, java.util.TreeMap" %>
<%--
  Takes a POST. Of a form it lists the fields in order, of anything else it
  tells the number of bytes. Any other method is refused.
--%>
<%
  request.setCharacterEncoding("UTF-8");
  if (!request.getMethod().equals("POST")) {
    response.setHeader("Allow", "POST");
    response.sendError(405, "want a POST");
    return;
  }
  String type = request.getContentType();
  if (type != null && type.startsWith("application/x-www-form-urlencoded")) {
    for (Map.Entry<String, String[]> field : new TreeMap<>(request.getParameterMap()).entrySet()) {
      for (String value : field.getValue()) {
        out.println(field.getKey() + ": " + value);
      }
    }
    return;
  }
  long bytes = 0;
  byte[] buffer = new byte[8192];
  for (int n; (n = request.getInputStream().read(buffer)) >= 0; ) {
    bytes += n;
  }
  out.println(bytes + " bytes");
%>
