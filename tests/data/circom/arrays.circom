pragma circom 2.1.0;

// A matrix times a vector, and the inverse of the sum: multi-dimensional inputs and full-size values.
template Arrays(n, m) {
    signal input matrix[n][m];
    signal input vector[m];
    signal output product[n];
    signal output inverse;
    signal terms[n][m];
    var total = 0;
    for (var i = 0; i < n; i++) {
        var sum = 0;
        for (var j = 0; j < m; j++) {
            terms[i][j] <== matrix[i][j] * vector[j];
            sum += terms[i][j];
        }
        product[i] <== sum;
        total += sum;
    }
    inverse <-- 1 / total;
    inverse * total === 1;
}

component main = Arrays(3, 4);
