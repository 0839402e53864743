<%@ page contentType="text/html; charset=UTF-8" session="false" trimDirectiveWhitespaces="true" %>
<%--
  A table of as many rows as the parameter "rows" says, 20 by default and 20000
  at most. Every row has 70 bytes, so that a given request always gets the same
  length: 185 bytes, the digits of the number, and the rows.
--%>
<%
  int rows = 20;
  String wanted = request.getParameter("rows");
  if (wanted != null) {
    try {
      rows = Integer.parseInt(wanted);
    } catch (NumberFormatException e) {
      rows = -1;
    }
  }
  if (rows < 0 || rows > 20000) {
    response.sendError(400, "rows: want a number from 0 to 20000");
    return;
  }
%>
<!DOCTYPE html>
<html>
<head><title>A table</title></head>
<body>
<h1><%= rows %> rows</h1>
<table>
<tr><th>number</th><th>square</th><th>remainder</th><th>hash</th></tr>
<%
  for (int i = 1; i <= rows; i++) {
    // Some work for each row: a hash of its number.
    int hash = i;
    for (int round = 0; round < 100; round++) {
      hash = hash * 31 + (hash >>> 7);
    }
    out.print(String.format("<tr><td>%05d</td><td>%09d</td><td>%02d</td><td>%08x</td></tr>%n", i, i * i, i % 97, hash));
  }
%>
</table>
</body>
</html>
