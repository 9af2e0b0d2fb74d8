import java.io.IOException;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okio.BufferedSink;

/** OkHttp. Arguments: method, URL, bytes, pieces, pause. */
public class OkHttp {
  public static void main(String[] args) throws Exception {
    int bytes = Integer.parseInt(args[2]);
    int pieces = Integer.parseInt(args[3]);
    var body = new RequestBody() {
      @Override
      public MediaType contentType() {
        return MediaType.parse("application/octet-stream");
      }

      @Override
      public long contentLength() {
        return bytes;
      }

      @Override
      public void writeTo(BufferedSink sink) throws IOException {
        for (int piece = 0; piece < pieces; piece++) {
          sink.write(new byte[bytes / pieces]);
          sink.flush();
          try {
            Thread.sleep(Integer.parseInt(args[4]));
          } catch (InterruptedException interrupted) {
            throw new IOException(interrupted);
          }
        }
      }
    };
    var request = new Request.Builder().url(args[1]).method(args[0], bytes == 0 ? null : body).build();
    try (var response = new OkHttpClient().newCall(request).execute()) {
      System.out.println(response.code() + " " + response.body().string());
    }
    // Its threads would keep the process for a minute.
    System.exit(0);
  }
}
