//! What labels are made of: words and syllables of several languages.

/// The parts of names of one language; lists are separated by white space.
pub(super) struct Language {
    /// Words, those that stand in many domain names first.
    pub words: &'static str,
    /// Syllables that names begin with.
    pub starts: &'static str,
    /// Syllables within names.
    pub middles: &'static str,
    /// Syllables that names end with.
    pub ends: &'static str,
    /// Of 100 names, how many are of this language.
    pub percent: u32,
    /// Letters of the language beyond ASCII, each with the letter that names without IDN write for it.
    pub accents: &'static [(char, char)],
}

/// The languages, English first; their shares are those of a country with English and French as its main languages.
pub(super) const LANGUAGES: [Language; 6] = [ENGLISH, FRENCH, GERMAN, SPANISH, JAPANESE, CHINESE];

/// Where names get words from besides their own language.
pub(super) const COMMON: &str = "
    online web shop net group info media design store tech hotel club studio consulting services solutions
    travel photo music auto data soft systems world international direct plus pro expert center
";

const ENGLISH: Language = Language {
    words: "
        home canada free best real your estate house business north west city health green blue
        computer network market first dental family mortgage insurance law art car the inn golf sports
        fitness school college church community care clinic water lake mountain valley river island
        ocean forest maple cedar pine stone rock gold silver red black white big smart easy quick fast
        fresh clean safe secure total global united national royal capital central eastern western
        northern southern pacific atlantic vancouver toronto montreal calgary ottawa halifax edmonton
        victoria london windsor hamilton kingston oxford york construction homes realty properties
        property renovations roofing plumbing heating electric electrical painting flooring kitchen
        kitchens garden gardens landscaping tree lawn farm farms foods food pizza coffee tea wine beer
        bakery catering restaurant grill cafe books book news radio video film pictures print printing
        signs graphics creative digital mobile wireless phone telecom cable software games game toys
        kids baby mom women men wedding bridal flowers gifts jewellery fashion clothing shoes beauty
        hair salon spa yoga massage wellness therapy medical pharmacy vision optical doctor nurse pets
        dog dogs cat horse fish bird wild adventure camp camping tours trips vacation rentals rental
        cottage lodge resort motel cruise flight air truck trucking transport logistics moving storage
        parts tires motors bike cycle ski hockey soccer tennis dance theatre gallery museum history
        heritage legal lawyers tax accounting finance financial invest investments wealth money credit
        loans bank trust fund jobs career careers training education learning academy institute
        research science energy power solar oil gas mining steel metal wood glass plastics
        manufacturing industrial industries equipment machine tools supply wholesale products trade
        export imports company corp partners associates management marketing advertising events party
        fun life living love star sun moon sky wind fire snow ice winter summer spring bay bridge park
        hill view street square tower point harbour port coast beach country village town land source
        link spot zone hub lab labs works craft my go get buy we all one new old top
    ",
    starts: "
        mac john rob wil har mor ander thom jack mar rich stev ber cam don fer gar hen ken lar mit nor
        pat ros sta tay wat wal bar cor dal el fal gil hol jen kel lin mel nel os per quin rey san tan
        ul van wes zan acu opti veri nova tri uni omni inter trans micro
    ",
    middles: "a e i o in er el an is al en ar on ing ber der ter ti ri li mi ni co da",
    ends: "
        son ton ley man ford field wood well dale ham by er ers ings land more stone tech ex ix on um
        us ia is ell ett ard ick co dyne net tron x
    ",
    percent: 62,
    accents: &[('i', 'ï'), ('e', 'é')],
};

const FRENCH: Language = Language {
    words: "
        maison quebec les mon le la centre groupe services gestion assurance immobilier voyage voyages
        cuisine jardin bois pierre terre soleil fleur fleurs montagne riviere auberge gite chalet
        ecole enfant enfants sante clinique dentaire avocats notaire comptable conseil formation
        construction toiture plomberie electrique chauffage peinture meubles mode beaute coiffure
        bijoux cadeaux musique cinema livres journal presse publicite imprimerie informatique reseau
        logiciel jeux sport velo peche chasse cheval ferme fromage vin pain boulangerie traiteur laval
        sherbrooke gatineau saguenay laurentides estrie saint notre grand petit beau belle bon nord
        sud est ouest
    ",
    starts: "
        beau gau trem la le bou gag rou pel ber des du ger lav mor char cha leb mar pou vil bel fon ga
        ouel
    ",
    middles: "e i ti lan mon ri vi cha lo che mar ne",
    ends: "ier eau ard ette ault not blay det ger ville mont chand tier lais gne gnon vin in",
    percent: 20,
    accents: &[('e', 'é'), ('e', 'è'), ('a', 'à'), ('c', 'ç'), ('o', 'ô'), ('i', 'î')],
};

const GERMAN: Language = Language {
    words: "
        haus bau stadt berg wald garten technik handel versicherung reisen ferien wohnung immobilien
        auto werkstatt druck verlag musik kunst schule verein sport praxis zahnarzt apotheke
        gesundheit kinder familie hochzeit mode schmuck wein bier gasthof metzger computer service
        beratung recht steuer energie holz metall maschinen werk gruppe neu nord sud alpen see
    ",
    starts: "
        schmi mul schnei wag beck hoff schul koch bau rich klei wolf neu schwar zim krue hart lan kra
        wer fried stein
    ",
    middles: "er en el ber der ten ger ne",
    ends: "mann er ler berg burg bach dorf feld stein hof haus heim inger meier dt ke",
    percent: 6,
    accents: &[('u', 'ü'), ('o', 'ö'), ('a', 'ä')],
};

const SPANISH: Language = Language {
    words: "
        casa mundo sol mar viajes tienda hogar moda vida salud grupo servicios escuela libro libros
        musica fiesta playa costa monte rio flores cocina vino cafe centro nuevo gran madera agua
        campo ciudad amigos deporte futbol juegos noticias empresa abogados seguros mexico latino
    ",
    starts: "gar rod mar lo gon her pe san ra tor ri go di mo al ro na va cas del or sal",
    middles: "i a ri ti mi lan de gue ra na che",
    ends: "ez o a es os ero illo ado ano ina ales ito",
    percent: 4,
    accents: &[('n', 'ñ'), ('a', 'á'), ('o', 'ó'), ('i', 'í')],
};

const JAPANESE: Language = Language {
    words: "
        sushi sakura tokyo osaka kyoto nippon hana yama kawa mori sora umi kaze hoshi ramen karate
        judo aikido zen manga anime bonsai origami fuji
    ",
    starts: "ta na ya ka sa ma ha mi ki to yo ko su fu no shi chi tsu mo ho ni re ro ichi ao",
    middles: "na ka ma ga ra shi ri ki to mo ku no hi",
    ends: "ta da moto mura yama kawa shima no to ki ko shi gawa hara",
    percent: 4,
    accents: &[('o', 'ō'), ('u', 'ū')],
};

const CHINESE: Language = Language {
    words: "
        china asia hong kong beijing shanghai dragon jade lotus feng long yuan hua ming tian xing
        huang jin
    ",
    starts: "
        wang zhang chen liu yang zhao wu zhou xu sun ma zhu hu guo he lin gao luo zheng liang xie tang
        qi yu
    ",
    middles: "xiao jian guo zhi wen hong yi shu xin da",
    ends: "hua ming wei jun feng ping yan li long bo hai tong bang",
    percent: 4,
    accents: &[('u', 'ü'), ('a', 'ā'), ('i', 'ī')],
};
