pragma circom 2.2.0;

bus Point() {
    signal x;
    signal y;
}

bus Segment() {
    Point() ends[2];
    signal weight;
}

// Buses as inputs, alone and in arrays.
template Buses() {
    input Point() origin;
    input Segment() path[2];
    signal output out;
    signal first <== path[0].ends[0].x * path[0].weight;
    signal second <== path[1].ends[1].y * path[1].weight;
    out <== first + 3 * second - origin.x * origin.y;
}

component main = Buses();
