import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;

/** java.net.http, which offers HTTP/2 by `upgrade: h2c` unless it is told not to. Arguments: method, URL, bytes, pieces, pause. */
public class NetHttp {
  public static void main(String[] args) throws Exception {
    int bytes = Integer.parseInt(args[2]);
    var body = bytes == 0
      ? HttpRequest.BodyPublishers.noBody()
      : HttpRequest.BodyPublishers.ofInputStream(() -> slowly(bytes, Integer.parseInt(args[3]), Integer.parseInt(args[4])));
    var request = HttpRequest.newBuilder(URI.create(args[1])).method(args[0], body).build();
    var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.out.println(response.statusCode() + " " + response.body());
  }

  static InputStream slowly(int bytes, int pieces, int pauseMs) {
    return new InputStream() {
      int left = bytes;

      @Override
      public int read() {
        throw new UnsupportedOperationException();
      }

      @Override
      public int read(byte[] into, int at, int length) {
        if (left == 0) return -1;
        try {
          Thread.sleep(pauseMs);
        } catch (InterruptedException ignored) {
          return -1;
        }
        int size = Math.min(Math.min(length, left), bytes / pieces);
        Arrays.fill(into, at, at + size, (byte) 'x');
        left -= size;
        return size;
      }
    };
  }
}
