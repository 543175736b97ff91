/* Reads drawings of digits and says which they are. The model is in digits.c; it takes no memory of its own. */
#include <stdio.h>
#include "digits.h"

enum { SIDE = 28 };

/* A 5 and a 3, every second line of each: as a sensor or a screen would hand them in, packed below. */
static const char *const drawings[2][SIDE / 2] = {
    {
        "                            ",
        "                            ",
        "        ############        ",
        "        ############        ",
        "        ##                  ",
        "        ##                  ",
        "        ########            ",
        "        ##########          ",
        "                 ###        ",
        "                  ##        ",
        "        ##       ###        ",
        "        ##########          ",
        "                            ",
        "                            ",
    },
    {
        "                            ",
        "                            ",
        "         #########          ",
        "        ##      ###         ",
        "                 ##         ",
        "                ###         ",
        "          #######           ",
        "          ########          ",
        "                 ##         ",
        "                  ##        ",
        "        ##       ###        ",
        "         ##########         ",
        "                            ",
        "                            ",
    },
};

int main(void) {
    for (int drawing = 0; drawing < 2; drawing++) {
        uint64_t row[MODEL_WORDS] = {0};
        for (int line = 0; line < SIDE; line++) {
            for (int place = 0; place < SIDE; place++) {
                int column = line * SIDE + place;
                uint64_t inked = drawings[drawing][line / 2][place] == '#';
                row[column / 64] |= inked << (column % 64);
            }
        }
        int32_t margins[MODEL_MARGINS];
        model_margins(row, margins);
        printf("drawing %d is a %s, margin %ld\n", drawing + 1, model_row(row) ? "5" : "3", (long)margins[0]);
    }
    return 0;
}
